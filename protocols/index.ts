import type { Protocol } from './kit/index.ts'

/** Every protocol, alphabetical. */
export const protocols: readonly Protocol[] = []

/** Every protocol by its name. */
export const protocolsByName: ReadonlyMap<string, Protocol> = new Map(protocols.map((each) => [each.name, each]))
