import fix from './fix/index.ts'
import gt06 from './gt06/index.ts'
import h02 from './h02/index.ts'
import type { Protocol } from './kit/index.ts'
import osmand from './osmand/index.ts'
import owntracks from './owntracks/index.ts'
import teltonika from './teltonika/index.ts'
import wialon from './wialon/index.ts'

/** Every protocol, in alphabetical order. */
export const protocols: readonly Protocol[] = [fix, gt06, h02, osmand, owntracks, teltonika, wialon]

/** Every protocol by its name. */
export const protocolsByName: ReadonlyMap<string, Protocol> = new Map(protocols.map((each) => [each.name, each]))
