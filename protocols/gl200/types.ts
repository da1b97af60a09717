/** Types of reports that hold a position, unless the device has none or was set to leave it out. */
const POSITIONS = new Set(
  (
    'AIS ANT BPL BTC CAN CRA CRD DAR DAT DIS DOG DTA DTT EPF EPN EPS ERI FRI GCR GEO GES GSS HBM IDF IDN IGF IGL IGN IOB ' +
    'JDR JDS JES LBC LSP MPF MPN NMR OBD PNL RTL RTP SOS SPD STC STP STR STT SVR TEM TMP TOW TRL TSC UPC VGF VGN'
  ).split(' '),
)

const NONE = new Map([
  ['ALC', 'settings'],
  ['ALL', 'settings'],
  ['ALM', 'settings'],
  ['CFG', 'settings'],
  ['CID', 'status'],
  ['CSQ', 'status'],
  ['GSM', 'cells'],
  ['GSV', 'satellites'],
  ['INF', 'status'],
  ['PDP', 'status'],
  ['PFA', 'status'],
  ['PNA', 'status'],
  ['VER', 'status'],
  ['WIF', 'wifi'],
])

/** 'position', or why a report of a type has none; undefined of a type that is not known. */
export function kindOf(type: string): string | undefined {
  return POSITIONS.has(type) ? 'position' : NONE.get(type)
}
