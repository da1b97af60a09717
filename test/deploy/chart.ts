import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { run } from './engine.ts'
import { ROOT } from './place.mjs'

export const CHART = join(ROOT, 'docker/helm/waybridge')

/** What the tests look at in an object of Kubernetes. */
export interface KubernetesObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec?: unknown
  readonly data?: Readonly<Record<string, string>>
}

export interface Service {
  readonly type?: string
  readonly selector: Readonly<Record<string, string>>
  readonly externalTrafficPolicy?: string
  readonly ports: readonly { readonly port: number; readonly protocol?: string }[]
}

/** Resolves to the objects that the chart makes, as the release `tracking`. Rejects with what helm says. */
export async function rendered(...options: string[]): Promise<KubernetesObject[]> {
  return objectsIn(await run('helm', 'template', 'tracking', CHART, ...options))
}

export function objectsIn(text: string): KubernetesObject[] {
  return parseAllDocuments(text).flatMap((document) => (document.toJS() as KubernetesObject | null) ?? [])
}

/** The object of the release with this name, behind `tracking-`. */
export function named(objects: readonly KubernetesObject[], kind: string, name: string): KubernetesObject | undefined {
  return objects.find((object) => object.kind === kind && object.metadata.name === `tracking-${name}`)
}

export function service(objects: readonly KubernetesObject[], name: string): Service {
  return named(objects, 'Service', name)!.spec as Service
}
