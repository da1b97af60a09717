import { expect, it } from 'vitest'
import { loadProtocols } from '../../protocols/index.ts'
import { waybridge } from '../support/cli.ts'

const protocols = await loadProtocols()

it('protocols lists each protocol with its usual ports, what it acknowledges, and its devices', async () => {
  const { code, out, errors } = await waybridge(['protocols'])
  const [head, ...lines] = out.trimEnd().split('\n')
  expect([code, errors, lines.length]).toEqual([0, '', protocols.length])
  expect(head).toMatch(/^NAME +USUAL PORTS +ACKNOWLEDGED +DEVICES$/)
  expect(lines.find((line) => line.startsWith('gt06 '))).toMatch(
    /^gt06 +tcp 5023, udp 5023, mqtt 1883 +fixes in some kinds of frames +Concox and Jimi /,
  )
  const column = head.indexOf('DEVICES')
  expect(lines.map((line) => line.slice(column))).toEqual(protocols.map(({ devices }) => devices))
})

it('protocols lists the protocols as JSON', async () => {
  const { code, out } = await waybridge(['protocols', '--json'])
  const list = JSON.parse(out) as { readonly name: string }[]
  expect([code, list.map(({ name }) => name)]).toEqual([0, protocols.map(({ name }) => name)])
  expect(list.find(({ name }) => name === 'teltonika')).toEqual({
    name: 'teltonika',
    devices: expect.stringMatching(/^Teltonika FMB/),
    ports: { tcp: 5027, udp: 5027, http: 5028, mqtt: 1883 },
    acknowledges: 'fixes',
  })
})
