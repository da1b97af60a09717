import { describe, expect, it } from 'vitest'
import { Places, readPlaces } from '../../src/admin/places.ts'
import { inEnglish } from '../support/texts.ts'

const places = new Places({
  names: ['Kaunas', 'Suva', 'Apia', 'Longyearbyen'],
  lat: [54_900, -18_140, -13_830, 78_220],
  lon: [23_900, 178_440, -171_760, 15_650],
})

describe('the place near a position', () => {
  it.each([
    [54.9127, 23.9221, '2 km NE of Kaunas'],
    [54.9, 23.8, '6 km W of Kaunas'],
    [54.8, 23.9, '11 km S of Kaunas'],
    [54.9, 23.91, 'in Kaunas'],
    [-18.14, -179.9, undefined],
    [-18.14, 179.2, '80 km E of Suva'],
    [78.22, 12, '83 km W of Longyearbyen'],
    [0, 0, undefined],
  ])('the position %d, %d is described as %s', (latitude, longitude, text) => {
    expect(inEnglish(places.near(latitude, longitude))).toBe(text)
  })

  it('the place near a position is found across the date line', () => {
    const dateline = new Places({ names: ['Taveuni'], lat: [-16_850], lon: [179_970] })
    expect(inEnglish(dateline.near(-16.85, -179.9))).toBe('14 km E of Taveuni')
  })

  it('the place list of the built page names the nearest place', async () => {
    const all = await readPlaces()
    expect(inEnglish(all.near(54.8985, 23.9036))).toBe('in Kaunas')
    expect(inEnglish(all.near(52.4, 13.06))).toMatch(/Potsdam/)
    expect(inEnglish(all.near(-55, -140))).toBeUndefined()
  })
})
