import { type DeviceFiles, readDeviceFiles } from '../config/files.ts'
import { ConfigError } from '../config/problem.ts'
import { sameId } from '../domain/ids.ts'

/**
 * The secrets of devices in the files of this machine; the roster has only digests, which cannot decrypt messages. Reads the
 * files when a secret is needed, and again only if they have changed since.
 */
export class DeviceSecrets {
  readonly #dir: string
  readonly #byDevice = new Map<string, readonly string[]>()
  #read: DeviceFiles | undefined
  #reading: Promise<void> | undefined

  /** `dir`: the folder of devices.yaml and devices.csv. */
  constructor(dir: string) {
    this.#dir = dir
  }

  /** Resolves to the secret and the previous secret of a device, as far as a file has them. Calls resolve in their order. */
  async of(device: string): Promise<readonly string[]> {
    await (this.#reading ??= this.#refresh().finally(() => (this.#reading = undefined)))
    return this.#byDevice.get(sameId(device)) ?? []
  }

  async #refresh(): Promise<void> {
    try {
      const read = await readDeviceFiles(this.#dir, this.#read)
      if (read !== this.#read) this.#take(read)
    } catch (error) {
      // The process that writes the roster reports the error.
      if (!(error instanceof ConfigError)) throw error
    }
  }

  /**
   * As long as files are refused, or all are gone, their devices stay in effect, with the last secrets. So may the devices that
   * are left out of a file; the roster decides whether a secret is still that of its device.
   */
  #take(read: DeviceFiles): void {
    this.#read = read
    const mistakes = read.files.flatMap((file) => file.mistakes)
    const devices = read.files.flatMap((file) => file.devices)
    const isRefused = devices.length === 0 || mistakes.some(({ severity = 'mistake' }) => severity === 'mistake')
    if (isRefused && this.#byDevice.size > 0) return
    for (const { device } of devices) {
      const secrets = [device.secret, device.previous_secret].filter((secret) => secret !== undefined)
      if (secrets.length > 0) this.#byDevice.set(sameId(device.id), secrets)
    }
  }
}
