import { loadProtocols } from '../../../protocols/index.ts'
import type { FindSpoken } from '../../admin/index.ts'
import type { Config } from '../../config/schema.ts'
import { sameId } from '../../config/units.ts'
import { Detector } from '../../listen/detect.ts'
import { listenerPorts } from '../listener-ports.ts'

/**
 * Finds the protocol that a misunderstood sender seems to speak, and the port for it. The decoders are loaded at the
 * first such sender: they take half a second, and 31 MB.
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
    const [place] = (await listenerPorts(config))(name)
    return { protocol: name, port: place?.[1] }
  }
}
