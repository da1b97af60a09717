import type { HttpRequest } from '../service.ts'
import type { PlacedOperation } from './document.ts'

/** The parts of a request; parameters are percent-encoded. */
export interface Parts {
  readonly path: Readonly<Record<string, string>>
  readonly query: readonly (readonly [name: string, value: string])[]
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

/** The arguments for `send`: the path with its query, and the rest. */
export function wire(operation: PlacedOperation, { path, query, headers, body }: Parts): [string, HttpRequest] {
  const filled = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => path[name])
  const search = query.map(([name, value]) => `${name}=${value}`).join('&')
  return [search === '' ? filled : `${filled}?${search}`, { method: operation.method, headers, body }]
}

/** Encodes text without its lone surrogates, which `encodeURIComponent` refuses. */
export function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}
