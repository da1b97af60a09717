import type { Setup } from './kit/index.ts'

/** How trackers are pointed at a server, where a public manual says it: what loads each, by protocol. */
const SETUPS: Readonly<Record<string, () => Promise<{ readonly default: Setup }>>> = {
  ais: () => import('./ais/setup.ts'),
  arnavi: () => import('./arnavi/setup.ts'),
  astra: () => import('./astra/setup.ts'),
  atrack: () => import('./atrack/setup.ts'),
  box: () => import('./box/setup.ts'),
  calamp: () => import('./calamp/setup.ts'),
  carscop: () => import('./carscop/setup.ts'),
  castel: () => import('./castel/setup.ts'),
  dragino: () => import('./dragino/setup.ts'),
  eelink: () => import('./eelink/setup.ts'),
  egts: () => import('./egts/setup.ts'),
  enfora: () => import('./enfora/setup.ts'),
  flespi: () => import('./flespi/setup.ts'),
  freematics: () => import('./freematics/setup.ts'),
  galileo: () => import('./galileo/setup.ts'),
  gator: () => import('./gator/setup.ts'),
  gl100: () => import('./gl100/setup.ts'),
  gl200: () => import('./gl200/setup.ts'),
  gl601: () => import('./gl601/setup.ts'),
  globalsat: () => import('./globalsat/setup.ts'),
  gps103: () => import('./gps103/setup.ts'),
  gt02: () => import('./gt02/setup.ts'),
  gt06: () => import('./gt06/setup.ts'),
  h02: () => import('./h02/setup.ts'),
  haicom: () => import('./haicom/setup.ts'),
  jt600: () => import('./jt600/setup.ts'),
  jt808: () => import('./jt808/setup.ts'),
  leafspy: () => import('./leafspy/setup.ts'),
  mavlink2: () => import('./mavlink2/setup.ts'),
  meiligao: () => import('./meiligao/setup.ts'),
  meitrack: () => import('./meitrack/setup.ts'),
  minifinder: () => import('./minifinder/setup.ts'),
  minifinder2: () => import('./minifinder2/setup.ts'),
  mxt: () => import('./mxt/setup.ts'),
  noran: () => import('./noran/setup.ts'),
  osmand: () => import('./osmand/setup.ts'),
  owntracks: () => import('./owntracks/setup.ts'),
  pt502: () => import('./pt502/setup.ts'),
  retranslator: () => import('./retranslator/setup.ts'),
  ruptela: () => import('./ruptela/setup.ts'),
  sanav: () => import('./sanav/setup.ts'),
  sigfox: () => import('./sigfox/setup.ts'),
  startek: () => import('./startek/setup.ts'),
  suntech: () => import('./suntech/setup.ts'),
  t55: () => import('./t55/setup.ts'),
  t800x: () => import('./t800x/setup.ts'),
  taip: () => import('./taip/setup.ts'),
  teltonika: () => import('./teltonika/setup.ts'),
  tlt2h: () => import('./tlt2h/setup.ts'),
  topin: () => import('./topin/setup.ts'),
  totem: () => import('./totem/setup.ts'),
  tramigo: () => import('./tramigo/setup.ts'),
  ttnhttp: () => import('./ttnhttp/setup.ts'),
  tzone: () => import('./tzone/setup.ts'),
  v680: () => import('./v680/setup.ts'),
  watch: () => import('./watch/setup.ts'),
  xexun: () => import('./xexun/setup.ts'),
  xirgo: () => import('./xirgo/setup.ts'),
}

/** The protocols whose set-up is known, in alphabetical order. */
export const protocolsWithSetup: readonly string[] = Object.keys(SETUPS)

/** How a tracker of a protocol is pointed at a server; undefined where no manual says it. */
export async function loadSetup(protocol: string): Promise<Setup | undefined> {
  if (!Object.hasOwn(SETUPS, protocol)) return undefined
  return (await SETUPS[protocol]()).default
}
