import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { Protocol } from '../../protocols/kit/index.ts'
import type { ProtocolCases } from '../support/protocol-cases.ts'
import { ROOT } from '../support/structure/sources.ts'
import { casesTemplate, indexWith, protocolTemplate, type Sketch } from './templates.ts'

const delimiter = { kind: 'delimiter', delimiters: ['#', '\0', "'"], stripped: true }

it.each<[Sketch]>([
  [{ name: 'lines', isText: true, family: { port: 5001, transports: ['TCP', 'UDP'], framing: delimiter, frames: 1 } }],
  [{ name: 'line', isText: true, family: { port: 5001, transports: ['TCP'], framing: { kind: 'line' }, frames: 1 } }],
  [
    {
      name: 'bytes',
      isText: false,
      family: { port: 5002, transports: ['TCP'], framing: { kind: 'custom' }, frames: 1 },
    },
  ],
  [
    {
      name: 'datagrams',
      isText: false,
      family: { port: 5003, transports: ['UDP'], framing: { kind: 'none' }, frames: 1 },
    },
  ],
  [
    {
      name: 'lengths',
      isText: false,
      family: { port: 5004, transports: ['TCP'], framing: { kind: 'length-field' }, frames: 1 },
    },
  ],
  [{ name: 'web', isText: false, family: { port: 5005, transports: ['HTTP'], framing: { kind: 'http' }, frames: 1 } }],
  [{ name: 'unknown', isText: false }],
])('npm run new creates $name with its port, transports and framer, and own frames', async (sketch) => {
  const folder = await mkdtemp(join(tmpdir(), 'waybridge-new-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const protocol = await loaded<Protocol>(join(folder, 'protocol.ts'), protocolTemplate(sketch))
  const cases = await loaded<ProtocolCases>(join(folder, 'cases.ts'), casesTemplate(sketch))
  const ports = Object.entries({ TCP: protocol.tcp, UDP: protocol.udp, HTTP: protocol.http })
  const { port = 0, transports = ['TCP'] } = sketch.family ?? {}
  expect(protocol.name).toBe(sketch.name)
  expect(ports.flatMap(([transport, at]) => (at ? [[transport, at.port]] : []))).toEqual(
    transports.map((transport) => [transport, port]),
  )
  expect([Object.keys(cases.costly).length, cases.frames[0].frames[0].fixes?.length]).toEqual([1, 1])
})

it('npm run new adds a protocol to the index in alphabetical order', () => {
  const text = ['const PROTOCOLS = {', lineOf('bce'), lineOf('dmt'), '}'].join('\n')
  for (const [name, at] of [
    ['adm', 1],
    ['castel', 2],
    ['xirgo', 3],
  ] as const)
    expect(indexWith(text, { name, isText: false })).toBe(text.split('\n').toSpliced(at, 0, lineOf(name)).join('\n'))
})

const lineOf = (name: string) => `  ${name}: { tcp: 0, load: () => import(${QUOTE}./${name}/index.ts${QUOTE}) },`

const QUOTE = "'"

/** Returns the exports of a file with this text in the folder of the protocol tests. */
async function loaded<Default>(path: string, text: string): Promise<Default> {
  const absolute = text
    .replaceAll(/'(?:\.\.\/)+(?:protocols\/)?kit\//g, `'${join(ROOT, 'protocols/kit/')}`)
    .replaceAll("'../support/", `'${join(ROOT, 'test/support/')}`)
  await writeFile(path, absolute)
  return (await import(path)).default
}
