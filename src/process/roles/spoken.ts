import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { loadProtocols } from '../../../protocols/index.ts'
import type { FindSpoken } from '../../admin/index.ts'
import { AUTO } from '../../config/listener.ts'
import type { Config } from '../../config/schema.ts'
import { sameId } from '../../config/units.ts'
import { Detector } from '../../listen/detect.ts'
import type { Ports } from '../role.ts'

/**
 * Finds out what a sender seems to speak that nobody understood, and which port is for that. The decoders are loaded at the first
 * such sender: they take half a second, and 31 MB.
 */
export function spokenTo(config: Config): FindSpoken {
  let loading: Promise<Detector> | undefined
  return async ({ at, bytes = '', evidence, protocol: expected, transport }, device) => {
    loading ??= loadProtocols().then((protocols) => new Detector({ protocols, configured: () => undefined }))
    const beginning = { bytes: Buffer.from(bytes, 'hex'), transport, now: at }
    const { guesses } = (await loading).look(beginning)
    const found = guesses.find((guess) => guess.device !== undefined && sameId(guess.device) === device)
    const name = found?.protocol.name ?? evidence[0]?.split(':', 1)[0]
    if (name === undefined || name === expected) return undefined
    const [listener] = [name, AUTO].flatMap((each) => config.listeners.filter(({ protocol }) => protocol === each))
    if (!listener) return { protocol: name }
    const port = listener.port || (await chosenPort(config, listener.protocol))
    return port === undefined ? undefined : { protocol: name, port }
  }
}

/** The port that a listener has chosen under this `start`; undefined: it is not known. */
async function chosenPort({ data_dir }: Config, name: string): Promise<number | undefined> {
  const text = await readFile(join(data_dir, 'ports.json'), 'utf8').catch(() => '{}')
  const ports = JSON.parse(text) as Ports
  return ports[`tcp/${name}`] ?? ports[`udp/${name}`]
}
