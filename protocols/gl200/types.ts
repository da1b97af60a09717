/** Types of reports by what they hold. One with a position may lack it: the device has none, or was set to leave it out. */
const TYPES = {
  position:
    'AIS ANT BPL BTC CAN CRA CRD DAR DAT DIS DOG DTA DTT EPF EPN EPS ERI FRI GCR GEO GES GSS HBM IDF IDN IGF IGL IGN IOB ' +
    'JDR JDS JES LBC LSP MPF MPN NMR OBD PNL RTL RTP SOS SPD STC STP STR STT SVR TEM TMP TOW TRL TSC UPC VGF VGN',
  settings: 'ALC ALL ALM CFG',
  status: 'CID CSQ INF PDP PFA PNA VER',
  cells: 'GSM',
  satellites: 'GSV',
  wifi: 'WIF',
}

/** By type: 'position', or why a report of the type has none. */
export const KINDS: ReadonlyMap<string, string> = new Map(
  Object.entries(TYPES).flatMap(([kind, types]) => types.split(' ').map((type) => [type, kind])),
)
