import type { Setup } from './kit/index.ts'

/** How trackers are pointed at a server, where a public manual says it: what loads each, by protocol. */
const SETUPS: Readonly<Record<string, () => Promise<{ readonly default: Setup }>>> = {
  arnavi: () => import('./arnavi/setup.ts'),
  calamp: () => import('./calamp/setup.ts'),
  dragino: () => import('./dragino/setup.ts'),
  egts: () => import('./egts/setup.ts'),
  flespi: () => import('./flespi/setup.ts'),
  freematics: () => import('./freematics/setup.ts'),
  galileo: () => import('./galileo/setup.ts'),
  gl100: () => import('./gl100/setup.ts'),
  gl200: () => import('./gl200/setup.ts'),
  globalsat: () => import('./globalsat/setup.ts'),
  gps103: () => import('./gps103/setup.ts'),
  gt06: () => import('./gt06/setup.ts'),
  h02: () => import('./h02/setup.ts'),
  jt808: () => import('./jt808/setup.ts'),
  leafspy: () => import('./leafspy/setup.ts'),
  meiligao: () => import('./meiligao/setup.ts'),
  meitrack: () => import('./meitrack/setup.ts'),
  osmand: () => import('./osmand/setup.ts'),
  owntracks: () => import('./owntracks/setup.ts'),
  retranslator: () => import('./retranslator/setup.ts'),
  ruptela: () => import('./ruptela/setup.ts'),
  sigfox: () => import('./sigfox/setup.ts'),
  suntech: () => import('./suntech/setup.ts'),
  teltonika: () => import('./teltonika/setup.ts'),
  topin: () => import('./topin/setup.ts'),
  ttnhttp: () => import('./ttnhttp/setup.ts'),
  watch: () => import('./watch/setup.ts'),
  xexun: () => import('./xexun/setup.ts'),
}

/** The protocols whose set-up is known, in alphabetical order. */
export const protocolsWithSetup: readonly string[] = Object.keys(SETUPS)

/** How a tracker of a protocol is pointed at a server; undefined where no manual says it. */
export async function loadSetup(protocol: string): Promise<Setup | undefined> {
  if (!Object.hasOwn(SETUPS, protocol)) return undefined
  return (await SETUPS[protocol]()).default
}
