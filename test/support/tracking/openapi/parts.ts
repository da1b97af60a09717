import type { HttpRequest } from '../service.ts'
import type { PlacedOperation } from './document.ts'

/** A request of an operation; parameters as they go out, percent-encoded. */
export interface Parts {
  readonly path: Readonly<Record<string, string>>
  readonly query: readonly (readonly [name: string, value: string])[]
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

/** What goes on the wire: the path with its query, and the rest. */
export function wire(operation: PlacedOperation, { path, query, headers, body }: Parts): [string, HttpRequest] {
  const filled = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => path[name])
  const search = query.map(([name, value]) => `${name}=${value}`).join('&')
  return [search === '' ? filled : `${filled}?${search}`, { method: operation.method, headers, body }]
}

/** Text that `encodeURIComponent` cannot encode goes without its lone surrogates. */
export function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}
