import { ADMIN_BASE_PATH } from '../../contract/admin-people.ts';
import { cookieFrom } from './admin.ts';
import type { Answer } from './harness.ts';
import type { ServerProcess } from './process.ts';

/** The admin API of any process, as somebody who has signed in. */
export interface SignedIn {
  cookie: string;
  get(server: ServerProcess, path: string): Promise<Answer>;
  post(server: ServerProcess, path: string, body?: unknown): Promise<Answer>;
}

/** Signs in at one process; the session holds at all of them. */
export const signIn = async (
  server: ServerProcess,
  person: { email: string; password: string },
): Promise<SignedIn> => {
  const answer = await server.post(`${ADMIN_BASE_PATH}/session`, person);
  if (answer.status !== 200) throw new Error(`signing in answered ${answer.status}`);
  const cookie = cookieFrom(answer);
  return {
    cookie,
    get: (at, path) => at.get(`${ADMIN_BASE_PATH}${path}`, { key: null, headers: { cookie } }),
    post: (at, path, body = {}) =>
      at.post(`${ADMIN_BASE_PATH}${path}`, body, { key: null, headers: { cookie } }),
  };
};
