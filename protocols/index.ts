import gt06 from './gt06/index.ts'
import type { Protocol } from './kit/index.ts'
import teltonika from './teltonika/index.ts'

/** Every protocol, alphabetical. */
export const protocols: readonly Protocol[] = [gt06, teltonika]

/** Every protocol by its name. */
export const protocolsByName: ReadonlyMap<string, Protocol> = new Map(protocols.map((each) => [each.name, each]))
