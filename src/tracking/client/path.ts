import { OPERATIONS, type OperationName } from '../operations.ts'

/** Ids by the names of the path's parameters; the query's parameters, those without a value left out. */
export interface Target {
  readonly operation: OperationName
  readonly params: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | undefined>>
}

/** An operation's path and query below the base URL; for a return, of its two paths the one with `returnPrefix`. */
export function pathOf({ operation, params, query = {} }: Target, returnPrefix: string): string {
  const path = templateOf(operation, returnPrefix).replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(params[name]),
  )
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`
}

function templateOf(operation: OperationName, returnPrefix: string): string {
  const isReturn = operation === 'returnItems' || operation === 'returnItemsV1'
  return isReturn ? returnPrefix + OPERATIONS.returnItems.path : OPERATIONS[operation].path
}
