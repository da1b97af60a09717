/** The columns of a routes file, as config/README.md describes them. */
export const ROUTE_COLUMNS = {
  device: 'Required. An id or a name of the devices files.',
  courier_id: 'The courier; empty: the courier of the device.',
  route_id: 'Required. The route.',
  from: 'First instant, inclusive: RFC 3339 with an offset, or local time in `time_zone`.',
  until: 'End, exclusive, in the same formats; empty: the end of the local day of `from`.',
  date: 'Instead of `from` and `until`: a local day such as `2026-11-20`.',
}

/** The names of these columns. */
export const COLUMNS: readonly string[] = Object.keys(ROUTE_COLUMNS)

/** The columns of a roster in German, French, Spanish, Dutch, Polish and Italian, without accents. */
const NAMES: Readonly<Record<string, string>> = {
  device:
    'gerat geraet fahrzeug wagen vehicle tracker vehicule appareil dispositif vehiculo dispositivo voertuig apparaat pojazd urzadzenie veicolo',
  courier_id:
    'courier driver fahrer kurier coursier livreur conducteur chauffeur mensajero repartidor conductor koerier bestuurder kierowca corriere autista conducente',
  route_id: 'route tour tournee itineraire ruta rit trasa percorso giro itinerario',
  from: 'start begin beginn von ab de du debut desde inicio van vanaf od poczatek da dal inizio',
  until: 'to end ende bis a au fin jusque hasta tot einde do koniec al fino fine',
  date: 'day datum tag jour fecha dia dag data dzien giorno',
}

const KNOWN = new Map(
  Object.entries(NAMES).flatMap(([column, names]) => names.split(' ').map((name) => [name, column] as const)),
)

/** The columns of a header under the names of config/README.md; what is not known stays as it is. */
export function knownColumns(columns: readonly string[]): string[] {
  return columns.map((column) => (COLUMNS.includes(column) ? column : (KNOWN.get(plain(column)) ?? column)))
}

/** A column name without accents and case, and without the part that says "id": `Fahrer-Nr.` becomes `fahrer`. */
function plain(column: string): string {
  const letters = column.toLowerCase().normalize('NFD').replaceAll(/\p{M}/gu, '').replaceAll('ł', 'l')
  return letters.replace(/[\s_.-]+(?:id|nr|no|num|nummer|numero|numer)\.?$/, '').trim()
}
