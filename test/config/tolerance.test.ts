import { describe, expect, it } from 'vitest'
import { readRoutes } from '../../src/config/routes.ts'
import { inEnglish } from '../support/texts.ts'

const read = (text: string, zone = 'UTC') => readRoutes({ name: 'routes.csv', text }, zone)
const hour = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 16)

it.each([
  ['English', 'Vehicle,Driver,Route,Start,End'],
  ['German', 'Fahrzeug;Fahrer-Nr.;Tour;Von;Bis'],
  ['German with an umlaut', 'Gerät;Kurier ID;Route;Beginn;Ende'],
  ['French', 'Véhicule;Livreur;Tournée;Début;Fin'],
  ['Spanish', 'Vehículo;Mensajero;Ruta;Desde;Hasta'],
  ['Dutch', 'Voertuig;Koerier;Rit;Van;Tot'],
  ['Polish', 'Pojazd;Kierowca;Trasa;Od;Do'],
  ['Polish with accents', 'Urządzenie;Kurier;Trasa;Początek;Koniec'],
  ['Italian', 'Veicolo;Corriere;Percorso;Dal;Al'],
  ['mixed', 'device;courier_id;route_id;von;until'],
])('the header of a roster can be %s', async (_, header) => {
  const delimiter = header.includes(';') ? ';' : ','
  const cells = ['Van 12', '42', '1002', '2026-11-20 06:00', '2026-11-20 20:00']
  const { rows, mistakes } = await read(`${header}\n${cells.join(delimiter)}\n`)
  expect(mistakes).toEqual([])
  expect(rows).toMatchObject([{ device: 'Van 12', courier_id: '42', route_id: '1002' }])
  expect(rows.map(({ from, until }) => [hour(from), hour(until)])).toEqual([['2026-11-20T06:00', '2026-11-20T20:00']])
})

it.each(['Datum', 'Fecha', 'Data', 'Date', 'dzień', 'jour'])(
  'the day column of a roster can be called %s',
  async (day) => {
    expect((await read(`device;route_id;${day}\nVan 12;1;2026-11-20\n`)).rows).toHaveLength(1)
  },
)

it('the header of a roster can follow title lines, and lines keep their numbers', async () => {
  const text = 'Tourenplan Nord;;\r\nStand: 20.11.2026\r\n\r\nFahrzeug;Tour;Von\r\nVan 12;1;2026-11-20 06:00\r\n'
  const { rows, mistakes } = await read(text)
  expect(mistakes).toEqual([])
  expect(rows).toMatchObject([{ line: 5, device: 'Van 12' }])
  expect(text.slice(rows[0].at)).toMatch(/^Van 12/)
})

it('the header of a roster is refused if two names mean one column', async () => {
  const { mistakes } = await read('Fahrzeug;device;route_id;von\n')
  expect(inEnglish(mistakes)).toMatchObject([{ key: 'device', message: 'this column occurs twice' }])
})

const dated = async (...dates: string[]) => {
  const { rows, mistakes } = await read(`device;route_id;from\n${dates.map((date) => `V;1;${date}\n`).join('')}`)
  return [...rows.map(({ from }) => hour(from)), ...mistakes.map(({ message }) => inEnglish(message))]
}

describe('a numeric date', () => {
  it.each([
    [['22.11.2026 06:00'], ['2026-11-22T06:00']],
    [['22/11/2026 6:00'], ['2026-11-22T06:00']],
    [['22-11-2026'], ['2026-11-22T00:00']],
    [['11/22/2026 06:00:30'], ['2026-11-22T06:00']],
    [['11/22/2026 6:00 AM'], ['2026-11-22T06:00']],
    [['11/22/2026 12:15:00 am'], ['2026-11-22T00:15']],
    [['22/11/2026 12:15 p.m.'], ['2026-11-22T12:15']],
    [['2026-11-22 6:00PM'], ['2026-11-22T18:00']],
    [
      ['05.11.2026 06:00', '22.11.2026 06:00'],
      ['2026-11-05T06:00', '2026-11-22T06:00'],
    ],
    [
      ['05/11/2026 06:00', '11/22/2026 06:00'],
      ['2026-05-11T06:00', '2026-11-22T06:00'],
    ],
    [['11/11/2026 06:00'], ['2026-11-11T06:00']],
  ])('the numeric dates %j are read if a day above 12 shows the order', async (dates, instants) => {
    const found = await dated(...dates.map((date) => (date.includes(':') ? date : `${date} 00:00`)))
    expect(found).toEqual(instants)
  })

  it.each([
    [['05/11/2026 06:00'], 'is "05/11/2026 06:00" 2026-11-05 or 2026-05-11? Write it like one of these'],
    [['05/11/2026 6:00 PM'], 'is "05/11/2026 6:00 PM" 2026-11-05 or 2026-05-11? Write it like one of these'],
    [['2026-11-22 13:00 PM'], 'expected a time such as 2026-11-20T06:00:00Z, or local such as 2026-11-20 06:00'],
    [['05.11.2026 06:00'], 'is "05.11.2026 06:00" 2026-11-05 or 2026-05-11? Write it like one of these'],
    [
      ['22/11/2026 06:00', '11/22/2026 06:00'],
      '"22/11/2026 06:00": some dates have the day first, some the month: write 2026-11-22',
    ],
  ])('the numeric dates %j are refused as ambiguous or wrong', async (dates, message) => {
    expect((await dated(...dates))[0]).toBe(message)
  })

  it('the column date accepts numeric dates', async () => {
    const { rows } = await read('device;route_id;date\nV;1;22.11.2026\nV;1;05.11.2026\n')
    expect(rows.map(({ from, until }) => [hour(from), hour(until)])).toEqual([
      ['2026-11-22T00:00', '2026-11-23T00:00'],
      ['2026-11-05T00:00', '2026-11-06T00:00'],
    ])
  })
})

describe('a local time', () => {
  it.each([
    [
      '2026-03-29 02:30',
      '2026-03-29 02:30 does not exist in Europe/Berlin, as its clocks are set forward: 03:30 is taken',
      '2026-03-29T01:30',
    ],
    [
      '2026-10-25 02:30',
      '2026-10-25 02:30 occurs twice in Europe/Berlin, as its clocks are set back: the first is taken; write it with an offset where the second is meant',
      '2026-10-25T00:30',
    ],
    ['2026-10-25 03:00', undefined, '2026-10-25T02:00'],
    ['2026-10-25T02:30+01:00', undefined, '2026-10-25T01:30'],
    ['2026-03-29 01:59', undefined, '2026-03-29T00:59'],
    ['2026-03-29 03:00', undefined, '2026-03-29T01:00'],
  ])('the local time %s is accepted with the warning %s', async (time, message, instant) => {
    const { rows, warnings } = await read(`device,route_id,from,until\nV,1,${time},2026-12-01 00:00\n`, 'Europe/Berlin')
    expect([hour(rows[0].from), ...warnings.map((warning) => inEnglish(warning.message))]).toEqual(
      message === undefined ? [instant] : [instant, message],
    )
  })
})
