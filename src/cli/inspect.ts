import { protocols } from '../../protocols/index.ts'
import { problemText } from '../config/problem.ts'
import { UserError } from '../errors.ts'
import { check } from '../roster/check.ts'
import { decodeInput, decodeLines } from './decode.ts'

export interface DecodeArguments {
  readonly protocol?: string
  readonly hex?: string
  readonly text?: string
  readonly jsonl?: boolean
  readonly lenient?: boolean
}

/** `waybridge decode`; answers with the exit code: 1 where the frame could not be understood. @throws UserError. */
export async function decodeCommand({ protocol, hex, text, jsonl, lenient }: DecodeArguments): Promise<number> {
  if (jsonl) {
    await decodeLines(process.stdin, process.stdout, { lenient }).catch(unlessNobodyReads)
    return 0
  }
  if (protocol === undefined) throw new UserError('decode: name the protocol with --protocol, or give --jsonl.')
  if ((hex === undefined) === (text === undefined)) throw new UserError('decode: give the frame as --hex or as --text.')
  const output = decodeInput({ protocol, input: hex === undefined ? { text: text ?? '' } : { hex } }, { lenient })
  process.stdout.write(`${JSON.stringify(output)}\n`)
  return output.error === undefined ? 0 : 1
}

/** `waybridge check`; answers with the exit code: 1 where something does not take effect as it stands. */
export async function checkCommand(dir: string): Promise<number> {
  const { mistakes, warnings } = await check(dir, protocols, Date.now())
  for (const mistake of mistakes) process.stdout.write(`${problemText(mistake)}\n`)
  for (const warning of warnings) process.stdout.write(`warning: ${problemText(warning)}\n`)
  if (mistakes.length > 0) return 1
  process.stdout.write(`${dir}: no mistakes${warnings.length === 0 ? '' : `, ${warnings.length} to look at`}\n`)
  return 0
}

/** `waybridge protocols`: a table of name, transports with their usual ports, devices. */
export function protocolsCommand(): void {
  const rows = protocols.map(({ name, tcp, udp, http, devices }) => {
    const ports = Object.entries({ tcp, udp, http }).flatMap(([transport, at]) =>
      at ? [`${transport} ${at.port}`] : [],
    )
    return [name, ports.length > 0 ? ports.join(', ') : 'mqtt 1883', devices]
  })
  const table = [['NAME', 'USUAL PORTS', 'DEVICES'], ...rows]
  const width = (column: number) => Math.max(...table.map((row) => row[column].length))
  for (const [name, ports, devices] of table)
    process.stdout.write(`${name.padEnd(width(0))}  ${ports.padEnd(width(1))}  ${devices}\n`)
}

/** `… | head` closes the pipe: that is an end, not a fault. */
function unlessNobodyReads(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error
}
