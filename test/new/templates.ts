import type { VectorFamily } from '../support/vectors/vectors.ts'

/** What is known of a protocol that is not written yet. */
export interface Sketch {
  readonly name: string
  readonly family?: VectorFamily
  /** Whether all its frames are text. */
  readonly isText: boolean
}

/** The text of protocols/index.ts with the line of a protocol in it, in alphabetical order. */
export function indexWith(text: string, sketch: Sketch): string {
  const lines = text.split('\n')
  const listed = lines.flatMap((line, at) => {
    const [, name] = /^ {2}(\w+): \{.*load: /.exec(line) ?? []
    return name === undefined ? [] : [{ at, name }]
  })
  const next = listed.find(({ name }) => name > sketch.name)?.at ?? (listed.at(-1)?.at ?? 0) + 1
  return lines.toSpliced(next, 0, indexLine(sketch)).join('\n')
}

function indexLine(sketch: Sketch): string {
  const ports = transportsOf(sketch).map((transport) => `${transport}: ${portOf(sketch)}, `)
  return `  ${sketch.name}: { ${ports.join('')}load: () => import(${quoted(`./${sketch.name}/index.ts`)}) },`
}

/** A file that compiles, and reads nothing yet. */
export function protocolTemplate(sketch: Sketch): string {
  if (transportsOf(sketch).includes('http')) return httpTemplate(sketch)
  return sketch.isText ? textTemplate(sketch) : binaryTemplate(sketch)
}

function textTemplate(sketch: Sketch): string {
  const { framer, expression } = framerOf(sketch)
  const names = framer === 'line' ? ['textProtocol'] : [framer, 'textProtocol'].toSorted()
  const transports = transportsOf(sketch)
  const ends = [...new Set(sketch.family?.framing.delimiters?.join('').replace(/[\r\n\0]/g, ''))].join('')
  return `${HEAD_COMMENT}import { ${names.join(', ')} } from '../kit/index.ts'

export default textProtocol({
${common(sketch)}  port: ${portOf(sketch)},
${transports.join() === 'tcp' ? '' : `  transports: [${transports.map(quoted).join(', ')}],\n`}${framer === 'line' ? '' : `  frame: ${expression},\n`}${ends === '' ? '' : `  ends: ${quoted(ends)},\n`}  lines: [{ like: 'FILL IN,{id},{any}', none: 'FILL IN' }],
})
`
}

function binaryTemplate(sketch: Sketch): string {
  const { framer, expression } = framerOf(sketch)
  const hasStream = transportsOf(sketch).includes('tcp')
  const values = ['ByteReader', 'DecodeError', ...(hasStream ? [framer] : [])]
  const ports = transportsOf(sketch).map((transport) =>
    transport === 'tcp'
      ? `  tcp: { port: ${portOf(sketch)}, frame: framer },\n`
      : `  udp: { port: ${portOf(sketch)} },\n`,
  )
  return `${HEAD_COMMENT}import { ${values.join(', ')}, type Message, type Protocol, type Session } from '../kit/index.ts'
${hasStream ? `\nconst framer = ${expression}\n` : ''}
export default {
${common(sketch)}${ports.join('')}  decode,
} satisfies Protocol

function decode(frame: Buffer, session: Session): Message {
  const r = new ByteReader(frame)
  throw new DecodeError('unsupported', \`FILL IN: \${r.left} bytes over \${session.transport}\`)
}
`
}

function httpTemplate(sketch: Sketch): string {
  return `${HEAD_COMMENT}import { DecodeError, type HttpRequest, type Message, type Protocol, type Session } from '../kit/index.ts'

export default {
${common(sketch)}  http: { port: ${portOf(sketch)} },
  request,
} satisfies Protocol

function request({ uri, body }: HttpRequest, session: Session): Message {
  throw new DecodeError('unsupported', \`FILL IN: \${uri}, \${body.length} bytes over \${session.transport}\`)
}
`
}

const HEAD_COMMENT = `/*
 * FILL IN: the maker and its devices, the name and version of the specification and where it can be found. What is special.
 *
 *   FILL IN: each kind of frame, one letter a field
 *
 *   I  FILL IN: the legend, with units                        Answer: FILL IN
 */
`

function common({ name }: Sketch): string {
  return `  name: '${name}',
  devices: 'FILL IN',
  integrity: { none: 'FILL IN' },
`
}

/** A framer of the kit, by what the index of the vectors says. */
function framerOf({ family }: Sketch): { readonly framer: string; readonly expression: string } {
  const { kind, delimiters = [] } = family?.framing ?? { kind: 'none' }
  if (kind === 'line') return { framer: 'line', expression: 'line' }
  if (kind === 'length-field')
    return { framer: 'lengthField', expression: "lengthField({ start: 'FILL IN', at: 2, width: 2, add: 0 })" }
  if (kind !== 'delimiter') return { framer: 'whole', expression: 'whole' }
  return { framer: 'endsWith', expression: `endsWith(${delimiters.map(quoted).join(', ')})` }
}

function quoted(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\u0000', '\\0').replaceAll("'", "\\'")}'`
}

function transportsOf({ family }: Sketch): ('tcp' | 'udp' | 'http')[] {
  return (['tcp', 'udp', 'http'] as const).filter((each) =>
    (family?.transports ?? ['TCP']).includes(each.toUpperCase()),
  )
}

function portOf({ family }: Sketch): number {
  return family?.port ?? 0
}

/** Own frames and costly ones, to fill in. */
export function casesTemplate(sketch: Sketch): string {
  const isHttp = transportsOf(sketch).includes('http')
  return isHttp ? httpCases : sketch.isText ? textCases : binaryCases
}

const FIX = `const FIX = { time: '2026-11-20T06:30:15Z', latitude: 54.687205, longitude: -25.27973, speed: 15, heading: 214 }
`

const textCases = `import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'
${FIX}
export default {
  costly: { 'FILL IN: fields without content': \`FILL IN\${many(',')}\` },
  frames: [
    {
      title: 'a position',
      frames: [{ frame: position('063015', '54.687205', '-25.279730'), device: ID, fixes: [FIX], reply: 'FILL IN' }],
    },
  ],
} satisfies ProtocolCases

/** FILL IN: a position as the specification draws it. */
function position(time: string, latitude: string, longitude: string): string {
  return \`FILL IN,\${ID},\${time},\${latitude},\${longitude}\\r\\n\`
}
`

const binaryCases = `import { ByteWriter } from '../../protocols/kit/index.ts'
import { COSTLY_SIZE, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'
${FIX}
export default {
  costly: { 'FILL IN: records without content': Buffer.concat([frameOf(0), Buffer.alloc(COSTLY_SIZE)]) },
  frames: [{ title: 'a position', frames: [{ frame: frameOf(1), device: ID, fixes: [FIX], reply: Buffer.of(1) }] }],
} satisfies ProtocolCases

/** FILL IN: a frame as the specification draws it. */
function frameOf(type: number): Buffer {
  return new ByteWriter().u16(0).u8(type).ascii(ID).toBuffer()
}
`

const httpCases = `import { get, many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'
${FIX}
export default {
  costly: { 'FILL IN: parameters without content': get(\`/?\${many('a&')}\`) },
  frames: [
    { title: 'a position', transport: 'http', frames: [{ frame: get(\`/?id=\${ID}\`), device: ID, fixes: [FIX] }] },
  ],
} satisfies ProtocolCases
`
