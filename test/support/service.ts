import { setTimeout as pause } from 'node:timers/promises';
import { NoAnswer } from './http.ts';
import type { ServerProcess } from './process.ts';

/** The service as callers see it: one address, behind which processes come and go. */
export class Service {
  servers: ServerProcess[] = [];
  #turn = 0;

  /** One of the processes, in turn; it may just have died. */
  get next(): ServerProcess {
    this.#turn += 1;
    return this.servers[this.#turn % this.servers.length] as ServerProcess;
  }

  /** Asks one of the processes; another one where that has just been killed. */
  async ask(work: (server: ServerProcess) => ReturnType<ServerProcess['get']>) {
    for (;;) {
      try {
        const answer = await work(this.next);
        if (answer.status < 500) return answer;
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw error;
      }
      await pause(20);
    }
  }
}
