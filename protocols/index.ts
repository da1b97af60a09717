import type { Protocol } from './kit/index.ts'

/** What is known of a protocol before it is loaded: its usual port on each transport. */
export interface ProtocolPorts {
  readonly name: string
  readonly tcp?: number
  readonly udp?: number
  readonly http?: number
}

/** Every protocol in alphabetical order: the usual ports that its file names (a test compares them), and what loads it. */
const PROTOCOLS: Readonly<Record<string, Omit<ProtocolPorts, 'name'> & { readonly load: Load }>> = {
  adm: { tcp: 5092, load: () => import('./adm/index.ts') },
  anytrek: { tcp: 5177, load: () => import('./anytrek/index.ts') },
  arnavi: { tcp: 5100, load: () => import('./arnavi/index.ts') },
  astra: { tcp: 5103, udp: 5103, load: () => import('./astra/index.ts') },
  atrack: { tcp: 5044, udp: 5044, load: () => import('./atrack/index.ts') },
  avl301: { tcp: 5085, load: () => import('./avl301/index.ts') },
  bce: { tcp: 5080, load: () => import('./bce/index.ts') },
  blackkite: { tcp: 5091, load: () => import('./blackkite/index.ts') },
  blue: { tcp: 5206, load: () => import('./blue/index.ts') },
  calamp: { udp: 5082, load: () => import('./calamp/index.ts') },
  castel: { tcp: 5086, udp: 5086, load: () => import('./castel/index.ts') },
  cellocator: { tcp: 5033, udp: 5033, load: () => import('./cellocator/index.ts') },
  cityeasy: { tcp: 5088, load: () => import('./cityeasy/index.ts') },
  continental: { tcp: 5161, load: () => import('./continental/index.ts') },
  dmt: { tcp: 5137, load: () => import('./dmt/index.ts') },
  dmthttp: { http: 5139, load: () => import('./dmthttp/index.ts') },
  dragino: { http: 5253, load: () => import('./dragino/index.ts') },
  dsf22: { tcp: 5236, udp: 5236, load: () => import('./dsf22/index.ts') },
  eelink: { tcp: 5064, udp: 5064, load: () => import('./eelink/index.ts') },
  egts: { tcp: 5162, load: () => import('./egts/index.ts') },
  enfora: { tcp: 5008, udp: 5008, load: () => import('./enfora/index.ts') },
  fifotrack: { tcp: 5124, load: () => import('./fifotrack/index.ts') },
  fix: { load: () => import('./fix/index.ts') },
  flespi: { http: 5149, load: () => import('./flespi/index.ts') },
  flexiblereport: { udp: 5227, load: () => import('./flexiblereport/index.ts') },
  galileo: { tcp: 5034, load: () => import('./galileo/index.ts') },
  gator: { tcp: 5052, udp: 5052, load: () => import('./gator/index.ts') },
  gl200: { tcp: 5004, udp: 5004, load: () => import('./gl200/index.ts') },
  gl601: { tcp: 5257, load: () => import('./gl601/index.ts') },
  globalstar: { http: 5185, load: () => import('./globalstar/index.ts') },
  gosafe: { tcp: 5078, udp: 5078, load: () => import('./gosafe/index.ts') },
  gps056: { tcp: 5141, load: () => import('./gps056/index.ts') },
  gps103: { tcp: 5001, udp: 5001, load: () => import('./gps103/index.ts') },
  granit: { tcp: 5113, load: () => import('./granit/index.ts') },
  gs100: { tcp: 5223, load: () => import('./gs100/index.ts') },
  gt02: { tcp: 5022, load: () => import('./gt02/index.ts') },
  gt06: { tcp: 5023, udp: 5023, load: () => import('./gt06/index.ts') },
  h02: { tcp: 5013, udp: 5013, load: () => import('./h02/index.ts') },
  huasheng: { tcp: 5111, load: () => import('./huasheng/index.ts') },
  hyn600: { tcp: 5258, load: () => import('./hyn600/index.ts') },
  iotm: { load: () => import('./iotm/index.ts') },
  jimiphoto: { http: 5267, load: () => import('./jimiphoto/index.ts') },
  jt600: { tcp: 5014, load: () => import('./jt600/index.ts') },
  jt808: { tcp: 5015, udp: 5015, load: () => import('./jt808/index.ts') },
  khd: { tcp: 5058, load: () => import('./khd/index.ts') },
  leafspy: { http: 5193, load: () => import('./leafspy/index.ts') },
  maestro: { tcp: 5129, load: () => import('./maestro/index.ts') },
  manpower: { tcp: 5042, load: () => import('./manpower/index.ts') },
  meiligao: { tcp: 5009, udp: 5009, load: () => import('./meiligao/index.ts') },
  meitrack: { tcp: 5020, udp: 5020, load: () => import('./meitrack/index.ts') },
  milesmate: { tcp: 5176, load: () => import('./milesmate/index.ts') },
  minifinder2: { tcp: 5187, load: () => import('./minifinder2/index.ts') },
  moovbox: { http: 5212, load: () => import('./moovbox/index.ts') },
  mtx: { tcp: 5083, load: () => import('./mtx/index.ts') },
  mxt: { tcp: 5087, load: () => import('./mxt/index.ts') },
  navis: { tcp: 5019, load: () => import('./navis/index.ts') },
  naviset: { tcp: 5194, load: () => import('./naviset/index.ts') },
  neos: { udp: 5183, load: () => import('./neos/index.ts') },
  niot: { tcp: 5210, load: () => import('./niot/index.ts') },
  noran: { udp: 5053, load: () => import('./noran/index.ts') },
  nto: { tcp: 5250, load: () => import('./nto/index.ts') },
  nvs: { tcp: 5101, load: () => import('./nvs/index.ts') },
  nyitech: { tcp: 5182, load: () => import('./nyitech/index.ts') },
  oigo: { udp: 5121, load: () => import('./oigo/index.ts') },
  opengts: { http: 5159, load: () => import('./opengts/index.ts') },
  orion: { tcp: 5070, load: () => import('./orion/index.ts') },
  osmand: { http: 5055, load: () => import('./osmand/index.ts') },
  outsafe: { http: 5200, load: () => import('./outsafe/index.ts') },
  owntracks: { http: 5144, load: () => import('./owntracks/index.ts') },
  pathaway: { http: 5099, load: () => import('./pathaway/index.ts') },
  piligrim: { http: 5059, load: () => import('./piligrim/index.ts') },
  plugin: { tcp: 5192, load: () => import('./plugin/index.ts') },
  polte: { http: 5214, load: () => import('./polte/index.ts') },
  portman: { tcp: 5211, load: () => import('./portman/index.ts') },
  pretrace: { tcp: 5133, load: () => import('./pretrace/index.ts') },
  pt215: { tcp: 5197, load: () => import('./pt215/index.ts') },
  pt3000: { tcp: 5045, load: () => import('./pt3000/index.ts') },
  pt502: { tcp: 5017, load: () => import('./pt502/index.ts') },
  pui: { load: () => import('./pui/index.ts') },
  r12w: { tcp: 5226, load: () => import('./r12w/index.ts') },
  r16h: { tcp: 5266, load: () => import('./r16h/index.ts') },
  ramac: { http: 5251, load: () => import('./ramac/index.ts') },
  raveon: { tcp: 5117, load: () => import('./raveon/index.ts') },
  retranslator: { tcp: 5167, load: () => import('./retranslator/index.ts') },
  rftrack: { http: 5245, load: () => import('./rftrack/index.ts') },
  robotrack: { tcp: 5163, load: () => import('./robotrack/index.ts') },
  rst: { udp: 5196, load: () => import('./rst/index.ts') },
  ruptela: { tcp: 5046, load: () => import('./ruptela/index.ts') },
  sabertek: { tcp: 5166, load: () => import('./sabertek/index.ts') },
  satsol: { tcp: 5184, load: () => import('./satsol/index.ts') },
  sigfox: { http: 5154, load: () => import('./sigfox/index.ts') },
  skypatrol: { udp: 5021, load: () => import('./skypatrol/index.ts') },
  smartcar: { http: 5262, load: () => import('./smartcar/index.ts') },
  smartsole: { tcp: 5178, load: () => import('./smartsole/index.ts') },
  snapper: { tcp: 5256, load: () => import('./snapper/index.ts') },
  spot: { http: 5156, load: () => import('./spot/index.ts') },
  starcom: { udp: 5190, load: () => import('./starcom/index.ts') },
  stl060: { tcp: 5060, load: () => import('./stl060/index.ts') },
  suntech: { tcp: 5011, load: () => import('./suntech/index.ts') },
  supermate: { tcp: 5108, load: () => import('./supermate/index.ts') },
  svias: { tcp: 5168, load: () => import('./svias/index.ts') },
  swiftech: { tcp: 5217, load: () => import('./swiftech/index.ts') },
  t55: { tcp: 5005, udp: 5005, load: () => import('./t55/index.ts') },
  t57: { tcp: 5155, load: () => import('./t57/index.ts') },
  t800x: { tcp: 5094, udp: 5094, load: () => import('./t800x/index.ts') },
  techtlt: { udp: 5189, load: () => import('./techtlt/index.ts') },
  techtocruz: { tcp: 5234, load: () => import('./techtocruz/index.ts') },
  tek: { tcp: 5173, load: () => import('./tek/index.ts') },
  teltonika: { tcp: 5027, udp: 5027, load: () => import('./teltonika/index.ts') },
  thinkpower: { tcp: 5228, load: () => import('./thinkpower/index.ts') },
  thinkrace: { tcp: 5098, load: () => import('./thinkrace/index.ts') },
  thuraya: { tcp: 5242, load: () => import('./thuraya/index.ts') },
  tk102: { tcp: 5036, load: () => import('./tk102/index.ts') },
  tk103: { tcp: 5002, udp: 5002, load: () => import('./tk103/index.ts') },
  topin: { tcp: 5199, load: () => import('./topin/index.ts') },
  tr900: { tcp: 5074, udp: 5074, load: () => import('./tr900/index.ts') },
  trackbox: { tcp: 5068, load: () => import('./trackbox/index.ts') },
  trakmate: { tcp: 5127, load: () => import('./trakmate/index.ts') },
  tramigo: { tcp: 5073, load: () => import('./tramigo/index.ts') },
  tt8850: { tcp: 5079, load: () => import('./tt8850/index.ts') },
  ttnhttp: { http: 5261, load: () => import('./ttnhttp/index.ts') },
  tytan: { udp: 5084, load: () => import('./tytan/index.ts') },
  tzone: { tcp: 5029, load: () => import('./tzone/index.ts') },
  ulbotech: { tcp: 5072, load: () => import('./ulbotech/index.ts') },
  upro: { tcp: 5095, load: () => import('./upro/index.ts') },
  valtrack: { http: 5255, load: () => import('./valtrack/index.ts') },
  vlt: { http: 5246, load: () => import('./vlt/index.ts') },
  vt200: { tcp: 5143, load: () => import('./vt200/index.ts') },
  vtfms: { tcp: 5145, udp: 5145, load: () => import('./vtfms/index.ts') },
  watch: { tcp: 5093, load: () => import('./watch/index.ts') },
  wialon: { tcp: 5039, udp: 5039, load: () => import('./wialon/index.ts') },
  wondex: { tcp: 5032, udp: 5032, load: () => import('./wondex/index.ts') },
  xexun3: { tcp: 5264, load: () => import('./xexun3/index.ts') },
  xrb28: { tcp: 5180, load: () => import('./xrb28/index.ts') },
  xt013: { tcp: 5076, load: () => import('./xt013/index.ts') },
  ywt: { tcp: 5035, load: () => import('./ywt/index.ts') },
}

type Load = () => Promise<{ readonly default: Protocol }>

const loaded = new Map<string, Promise<Protocol>>()

/** The names and usual ports of all protocols; no protocol is loaded for that. */
export const protocolPorts: readonly ProtocolPorts[] = Object.entries(PROTOCOLS).map(([name, { tcp, udp, http }]) => ({
  name,
  tcp,
  udp,
  http,
}))

/** The protocol of a name, loaded when it is first asked for; undefined where there is none. */
export async function loadProtocol(name: string): Promise<Protocol | undefined> {
  if (!Object.hasOwn(PROTOCOLS, name)) return undefined
  let protocol = loaded.get(name)
  if (!protocol) loaded.set(name, (protocol = PROTOCOLS[name].load().then((file) => file.default)))
  return protocol
}

/** Every protocol, loaded, in alphabetical order. */
export async function loadProtocols(): Promise<Protocol[]> {
  return (await Promise.all(Object.keys(PROTOCOLS).map(loadProtocol))) as Protocol[]
}
