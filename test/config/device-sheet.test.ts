import { expect, it } from 'vitest'
import { readDeviceSheet } from '../../src/config/device-sheet.ts'
import { inEnglish } from '../support/texts.ts'

const [ONE, TWO] = ['356307042441013', '356307042441021']
const columnsOf = async (text: string) =>
  Object.fromEntries((await readDeviceSheet(text)).columns.map(({ name, read_as }) => [name, read_as]))

it.each([
  ['English', 'Plate,IMEI,Driver ID,Route,SIM,Comment'],
  ['English with other words', 'License plate,IMEI number,Driver no.,Tour,Phone number,Notes'],
  ['German', 'Kennzeichen;IMEI-Nummer;Fahrer-Nr.;Tour;SIM-Karte;Bemerkung'],
  ['German without IMEI', 'Amtliches Kennzeichen;Gerätenummer;Fahrernummer;Tournummer;Rufnummer;Kommentar'],
  ['French', 'Immatriculation;N° IMEI;Livreur;Tournée;Carte SIM;Remarque'],
  ['Spanish', 'Matrícula;Número IMEI;Conductor;Ruta;Teléfono;Observaciones'],
  ['Italian', 'Targa;Codice IMEI;Autista;Percorso;Scheda SIM;Note'],
  ['Polish', 'Nr rejestracyjny;Nr IMEI;Kierowca;Trasa;Karta SIM;Uwagi'],
  ['Dutch', 'Kenteken;IMEI-nummer;Bestuurder;Rit;Simkaart;Opmerkingen'],
])('the header of a list of vans can be %s', async (_, header) => {
  const text = `${header}\n${['B-WB 12', ONE, '42', '1001', '0151', 'new'].join(header.includes(';') ? ';' : ',')}\n`
  const { columns, rows, rejected } = await readDeviceSheet(text)
  expect(rejected).toEqual([])
  expect(columns.map(({ read_as }) => read_as)).toEqual(['name', 'device', 'courier_id', 'route_id', null, null])
  expect(inEnglish(columns[4])).toMatchObject({ note: 'SIM or telephone number: not kept' })
  expect(inEnglish(columns[5])).toMatchObject({ note: 'comment: not kept' })
  expect(rows.map(({ cells }) => Object.fromEntries(cells))).toEqual([
    { name: 'B-WB 12', courier_id: '42', route_id: '1001' },
  ])
})

it('the header of a list of vans can follow title lines, and lines keep their numbers', async () => {
  const text = `\ufeffFuhrpark Nord;;\r\nStand: 20.11.2026;;\r\n\r\nKennzeichen;IMEI;Bemerkung\r\nB-WB 12;${ONE};\r\n`
  const { rows, rejected } = await readDeviceSheet(text)
  expect(rejected).toEqual([])
  expect(rows).toMatchObject([{ line: 5, id: { id: ONE } }])
})

it('the header of a list of vans can have an unknown column, which is noted', async () => {
  const { columns } = await readDeviceSheet(`IMEI;Kennzeichen;Reifen\n${ONE};B-WB 12;Winter\n`)
  expect(inEnglish(columns[2])).toEqual({ name: 'reifen', read_as: null, note: 'not recognised: left aside' })
})

it('the header of a list of vans can have a column of driver names, which is ignored', async () => {
  const { columns } = await readDeviceSheet(`IMEI;Fahrer\n${ONE};Anna\n${TWO};Ben\n`)
  expect(inEnglish(columns[1])).toMatchObject({ read_as: null, note: 'it has names, and no ids: left aside' })
})

it('the plate becomes the name if all vehicles have one name', async () => {
  const text = `Fahrzeug;Kennzeichen;IMEI\nSprinter;B-WB 1;${ONE}\nSprinter;B-WB 2;${TWO}\n`
  expect(await columnsOf(text)).toEqual({ fahrzeug: null, kennzeichen: 'name', imei: 'device' })
})

it('the column of the IMEIs is found by its cells', async () => {
  const text = `Kennzeichen;Box\nB-WB 1;${ONE}\nB-WB 2;${TWO}\n`
  expect(await columnsOf(text)).toEqual({ kennzeichen: 'name', box: 'device' })
})

it('the column of the SIM cards is not read as IMEIs', async () => {
  const text = 'Kennzeichen;Karte\nB-WB 1;89490200001234567890\n'
  expect(await columnsOf(text)).toEqual({ kennzeichen: 'name', karte: null })
})

it('the header of a list of vans is read as the caller says', async () => {
  const text = `Wer;Was\nB-WB 1;${ONE}\n`
  const { rows } = await readDeviceSheet(
    text,
    new Map([
      ['wer', 'name'],
      ['was', 'device'],
    ] as const),
  )
  expect(rows).toMatchObject([{ given: ONE, cells: new Map([['name', 'B-WB 1']]) }])
})

it('a bad line of a list of vans is left out by itself', async () => {
  const { rows, rejected } = await readDeviceSheet(`IMEI;Kennzeichen\n;B-WB 1\n${ONE};B-WB 2\n"${TWO};B-WB 3\n`)
  expect(rows.map(({ line }) => line)).toEqual([3])
  expect(inEnglish(rejected)).toEqual([
    { line: 2, message: 'it has no id of a device' },
    { line: 4, message: 'misplaced quotation mark' },
  ])
})

it('a line of a list of vans is in doubt if its id is no IMEI but most others are', async () => {
  const good = ['356307042441013', '356307042441021', '356307042441039', '356307042441047']
  const text = `IMEI;Plate\n${[...good, '8672320', 'offen'].map((id, at) => `${id};Van ${at}\n`).join('')}`
  const doubts = (await readDeviceSheet(text)).rows.map(({ id }) => inEnglish(id).doubt)
  expect(doubts.slice(4)).toEqual([undefined, undefined])
  const more = `${text}${['356307042441054', '356307042441062', '356307042441070'].map((id) => `${id};W\n`).join('')}`
  expect((await readDeviceSheet(more)).rows.map(({ id }) => inEnglish(id).doubt).slice(4, 6)).toEqual([
    'it has 7 digits: most ids of the list are IMEIs, which have 15',
    'it is no IMEI, as most ids of the list are',
  ])
})
