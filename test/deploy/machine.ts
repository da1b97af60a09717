import { vi } from 'vitest'
import { podman } from './engine.ts'
import { build } from './images.ts'

/* A machine of Debian with systemd: process 1 of a container without a network, so packages are installed while its image is built. */

export interface Machine {
  /** Runs a line of a shell; returns what it prints. @throws Error if it fails. */
  inside(line: string): Promise<string>
  /** State of the service: `active running success`. */
  state(): Promise<string>
}

/** Starts a machine with a Redis server, curl and what `lines` of a Dockerfile put there from the folder `context`. */
export async function startMachine(name: string, lines: readonly string[], context: string): Promise<Machine> {
  const packages = 'systemd systemd-sysv curl redis-server'
  const system = `RUN apt-get update && apt-get install --yes --no-install-recommends ${packages}`
  const image = `localhost/${name}`
  await build(image, [system, 'WORKDIR /root', ...lines], context, 'docker.io/library/node:24-slim')
  const options = ['--detach', '--name', name, '--systemd=always', '--privileged', '--network=none']
  // As on a machine, which systemd sees to itself: else no service sees its credentials.
  const boot = 'mount --make-rshared / && exec /lib/systemd/systemd'
  await podman('run', ...options, image, 'sh', '-c', boot)
  const inside = async (line: string) => (await podman('exec', name, 'sh', '-c', line)).trim()
  // Fails for a machine that has begun to start, and one that runs with a unit that failed.
  await vi.waitFor(() => inside('systemctl is-system-running | grep -E "running|degraded"'), {
    timeout: 60_000,
    interval: 500,
  })
  return {
    inside,
    async state() {
      const shown = await inside('systemctl show --property=ActiveState,SubState,Result waybridge')
      const values = Object.fromEntries(shown.split('\n').map((line) => line.split('=')))
      return [values.ActiveState, values.SubState, values.Result].join(' ')
    },
  }
}

/** The command that asks whether devices get acknowledgements. */
export const READY = 'curl --silent --show-error --fail http://127.0.0.1:8080/readyz'

/** The command that sends a fix; it prints 200 once it is acknowledged. */
export function sendFix(): string {
  const fix = `http://127.0.0.1:5055/?id=356307042441013&lat=51.5&lon=13.4&timestamp=${Math.floor(Date.now() / 1000)}`
  return `curl --silent --output /dev/null --write-out '%{http_code}' '${fix}'`
}
