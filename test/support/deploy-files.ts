import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Deployment } from 'kubernetes-types/apps/v1.js';
import type { Job } from 'kubernetes-types/batch/v1.js';
import type { Container, PersistentVolumeClaim, Service } from 'kubernetes-types/core/v1.js';
import type { LabelSelector, ObjectMeta } from 'kubernetes-types/meta/v1.js';
import type { Ingress, NetworkPolicy } from 'kubernetes-types/networking/v1.js';
import type { PodDisruptionBudget } from 'kubernetes-types/policy/v1.js';
import { parse, parseAllDocuments } from 'yaml';

// The files of deploy/ that name processes, and what they say of each.

export const DEPLOY = fileURLToPath(new URL('../../deploy', import.meta.url));
export const readDeploy = (path: string): string => readFileSync(`${DEPLOY}/${path}`, 'utf8');

/** Of the Prometheus Operator's CRD, as far as we use it. */
interface PodMonitor {
  apiVersion: 'monitoring.coreos.com/v1';
  kind: 'PodMonitor';
  metadata: ObjectMeta;
  spec: {
    jobLabel: string;
    selector: LabelSelector;
    podMetricsEndpoints: {
      port: string;
      path: string;
      interval: string;
      authorization: { type: 'Bearer'; credentials: { name: string; key: string } };
    }[];
  };
}

/** Of kubectl's own Kustomize, as far as we use it. */
interface Kustomization {
  apiVersion: 'kustomize.config.k8s.io/v1beta1';
  kind: 'Kustomization';
  namespace: string;
  resources: string[];
  images: { name: string; newName: string; newTag?: string; digest?: string }[];
  configMapGenerator: {
    name: string;
    literals: string[];
    options: { labels: Record<string, string> };
  }[];
}

/** The API's own types, by kind: `satisfies Kinds['Deployment']` finds a wrong field, a missing one and a wrong type. */
export interface Kinds {
  Deployment: Deployment;
  Ingress: Ingress;
  Job: Job;
  Kustomization: Kustomization;
  NetworkPolicy: NetworkPolicy;
  PersistentVolumeClaim: PersistentVolumeClaim;
  PodDisruptionBudget: PodDisruptionBudget;
  PodMonitor: PodMonitor;
  Service: Service;
}

type Settings = Record<string, string>;

// biome-ignore lint/suspicious/noExplicitAny: tests check the objects against the types of the API, and then read them
export type Manifest = { apiVersion: string; kind: keyof Kinds } & Record<string, any>;

const kustomization: Manifest = parse(readDeploy('kubernetes/kustomization.yaml'));
const files = ['kustomization.yaml', 'podmonitor.yaml', ...kustomization['resources']];

export const KUBERNETES: Manifest[] = files.flatMap((file: string) =>
  parseAllDocuments(readDeploy(`kubernetes/${file}`)).map((document) => {
    if (document.errors.length > 0) throw new Error(`${file}: ${document.errors}`);
    return document.toJS();
  }),
);

export const ofKind = (kind: keyof Kinds): Manifest[] => KUBERNETES.filter((each) => each.kind === kind);

export const theOnly = (kind: keyof Kinds): Manifest => {
  const [found, ...more] = ofKind(kind);
  if (!found || more.length > 0) throw new Error(`one ${kind} expected`);
  return found;
};

/** Settings that all processes share. */
export const SHARED: Settings = Object.fromEntries(
  kustomization['configMapGenerator'][0].literals.map((line: string) => line.split(/=(.*)/s).slice(0, 2)),
);

export const settingsOf = ({ env = [] }: Container): Settings => ({
  ...SHARED,
  ...Object.fromEntries(env.map(({ name, value = '' }) => [name, value])),
});

export const COMPOSE = parse(readDeploy('compose.yaml'), { merge: true });

/** The commands after the program's name in a file's own instructions. */
export const commandsIn = (text: string): string[][] =>
  [...text.matchAll(/bin\/handback\.js (.*)$/gm)].map(([, line = '']) =>
    (line.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', '')),
  );
