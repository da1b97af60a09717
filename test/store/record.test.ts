import { expect, it } from 'vitest'
import { deviceOf, packDevice, packRecords, positionOf, spokenIn } from '../../src/store/index.ts'

const POSITION = { timestamp: 1_763_640_000, latitude: 52.52, longitude: 13.41, accuracy: 5 }

it.each(['356307042441013', '007', 'van-1', 'Wagen Ä'])(
  'a record of %s keeps the device id, and the protocol that it was read with',
  (id) => {
    for (const spoken of [undefined, { protocol: 'h02', isGuess: true }, { protocol: 'gt06', isGuess: false }]) {
      const record = packRecords([POSITION], packDevice(id, spoken), Date.now())
      expect([deviceOf(record), spokenIn(record)]).toEqual([id, spoken])
      expect(positionOf(record)).toMatchObject(POSITION)
    }
  },
)
