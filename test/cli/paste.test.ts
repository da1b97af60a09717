import { expect, it } from 'vitest'
import { decodeCommand } from '../../src/cli/decode.ts'
import { readPaste } from '../../src/cli/paste.ts'
import { waybridge } from '../support/cli.ts'
import { gt06Frame, gt06Gps } from '../support/encode.ts'

const POSITION = { date: '261120063015', latitude: 54.5, longitude: 25.25, satellites: 9, speed: 36, heading: 90 }
const FRAME = gt06Frame(0x12, Buffer.concat([gt06Gps(POSITION), Buffer.from('0106010d2a003e00', 'hex')]))
const HEX = FRAME.toString('hex')
const pairs = HEX.match(/../g) ?? []
const TEXT = '*HQ,356307042441013,V1,063015,A,5430.0000,N,02515.0000,E,019.4,090,201126,FFFFFFFF#'
const escaped = pairs.map((pair) => `\\x${pair}`).join('')

it.each([
  ['hex', HEX],
  ['hex in capitals with blanks', pairs.join(' ').toUpperCase()],
  ['hex with colons', pairs.join(':')],
  ['hex with 0x', pairs.map((pair) => `0x${pair}`).join(', ')],
  ['hex after 0x', `0x${HEX}`],
  ['hex over lines', HEX.replaceAll(/.{16}/g, '$&\n')],
  ['hex in a line of a log', `2026-11-20 06:30:15.123 INFO [conn-17] HEX: ${HEX} from 10.1.2.3:4711`],
  ['hex with blanks in a line of a log', `recv 41 bytes: ${pairs.join(' ')}`],
  ['base64', FRAME.toString('base64')],
  ['base64 in JSON', `{"payload":"${FRAME.toString('base64')}"}`],
  ['C escapes', escaped],
  ['bytes of Python', `b'${escaped}'`],
])('decode reads the bytes in a paste of %s', (_, paste) => {
  expect(readPaste(paste).map(({ bytes }) => bytes.toString('hex'))).toContain(HEX)
})

it.each([
  ['text', TEXT],
  ['text in a line of a log', `Nov 20 06:30:15 gw tcpdump: got "${TEXT}"`],
  ['text with escapes', `${TEXT}\\r\\n`],
])('decode reads the text in a paste of %s', (_, paste) => {
  expect(readPaste(paste).map(({ bytes }) => bytes.toString().trim())).toContain(TEXT)
})

it('decode reads a paste in at most 40 ways', () => {
  expect(readPaste('$ * # '.repeat(1000)).length).toBeLessThanOrEqual(40)
  expect(readPaste('')).toEqual([])
})

it.each([
  ['gt06', `INFO received ${pairs.join(' ')}`],
  ['h02', `got "${TEXT}"`],
])('decode finds %s in a paste, and shows what each candidate says', async (protocol, paste) => {
  const { code, out } = await waybridge(['decode', ...paste.split(' ')])
  const candidates = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { protocol: string; evidence: string[]; fixes: { lat: number }[] })
  expect([code, candidates[0].protocol, candidates[0].fixes[0]?.lat]).toEqual([0, protocol, 54.5])
  expect(candidates[0].evidence.length).toBeGreaterThan(0)
})

it('decode accepts a paste with --protocol, and says that nothing fits', async () => {
  const { code, out } = await waybridge(['decode', '--protocol', 'gt06', FRAME.toString('base64')])
  expect([code, JSON.parse(out)]).toMatchObject([0, { fixes: [{ lat: 54.5, lon: 25.25 }] }])
  await expect(decodeCommand({ paste: ['?'] })).rejects.toThrow('understands these bytes')
})
