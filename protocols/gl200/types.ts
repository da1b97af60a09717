/** Types of reports by what they hold. One with a position may lack it: the device has none, or was set to leave it out. */
const TYPES = {
  position:
    'AIS ANT ASC BAA BID BPL BTC CAN CLT CRA CRD CTN DAR DAT DIS DOG DTA DTT EPF EPN EPS ERI FRI GCR GEO GES GIN GOT ' +
    'GPJ GSS HBE HBM IDF IDN IGF IGL IGN IOB JDR JDS JES LBC LSP LSW MPF MPN NMR OBD PNL RMD RTL RTP SOS SPD STC STP ' +
    'STR STT SVR TEM TMP TOW TRI TRL TSC TSW UPC VGF VGL VGN',
  settings: 'ALC ALL ALM CFG',
  status: 'BAT CID CSQ GPS INF IOS PDP PFA PFR PNA PNR TMZ VER',
  cells: 'GSM',
  satellites: 'GSV',
  wifi: 'WIF',
}

/** By type: 'position', or why a report of the type has none. */
export const KINDS: ReadonlyMap<string, string> = new Map(
  Object.entries(TYPES).flatMap(([kind, types]) => types.split(' ').map((type) => [type, kind])),
)
