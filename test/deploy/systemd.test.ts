import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { documentedCommands } from './documented.ts'
import { podman } from './engine.ts'
import { build, PACKAGE } from './images.ts'
import { COPY } from './place.mjs'
import { endAll, prepareSite } from './site.ts'

/* The unit under a real systemd, process 1 of a container, installed by the commands of docker/README.md. */

const CONTAINER = 'waybridge-systemd'
const [install, init, copyUnit, ...service] = documentedCommands('## With systemd')
const [reload, enable, journal] = service

beforeAll(async () => {
  await prepareSite()
  // npm needs the network, which the container has not: so all up to the unit is done while the image is built.
  const system =
    'apt-get update && apt-get install --yes --no-install-recommends systemd systemd-sysv curl redis-server'
  const copied = `COPY --from=${PACKAGE} /src/waybridge-*.tgz /root/`
  const lines = [`RUN ${system}`, 'WORKDIR /root', copied, `RUN ${install}`, `RUN ${init}`, `RUN ${copyUnit}`]
  await build(`localhost/${CONTAINER}`, lines, COPY, 'docker.io/library/node:24-slim')
  const options = ['--detach', '--name', CONTAINER, '--systemd=always', '--privileged', '--network=none']
  await podman('run', ...options, `localhost/${CONTAINER}`, '/lib/systemd/systemd')
})
afterAll(endAll)

it('the package of the image has every file that the package of a clone has', async () => {
  const listed = JSON.parse(readFileSync(join(COPY, 'package.json'), 'utf8')) as { files: string[] }
  await inside(`cd "$(npm root --global)/waybridge" && ls -d ${listed.files.join(' ')}`)
})

it('the unit starts by the documented commands, answers, and writes JSON lines to the journal', async () => {
  const system = () => inside('systemctl is-system-running || true').catch(() => '')
  await expect.poll(system, { timeout: 60_000, interval: 500 }).toMatch(/running|degraded/)
  await inside(reload)
  await inside(`timeout 120 ${enable}`)
  expect(await state()).toBe('active running success')
  expect(await inside('curl --silent --show-error --fail http://127.0.0.1:8080/readyz')).toContain('"ok":true')
  const lines = (await inside(journal.replace('journalctl', 'journalctl --output=cat'))).split('\n')
  expect(lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as object).length).toBeGreaterThan(
    0,
  )
})

it('the unit acknowledges a fix', async () => {
  const fix = `http://127.0.0.1:5055/?id=356307042441013&lat=51.5&lon=13.4&timestamp=${Math.floor(Date.now() / 1000)}`
  expect(await inside(`curl --silent --output /dev/null --write-out '%{http_code}' '${fix}'`)).toBe('200')
})

it('the unit is started again by a restart, and ends in order by a stop', async () => {
  const before = await inside('systemctl show --property=MainPID --value waybridge')
  await inside('timeout 120 systemctl restart waybridge')
  expect(await state()).toBe('active running success')
  expect(await inside('systemctl show --property=MainPID --value waybridge')).not.toBe(before)
  expect(await inside('curl --silent --show-error --fail http://127.0.0.1:8080/readyz')).toContain('"ok":true')
  await inside('timeout 60 systemctl stop waybridge')
  expect(await state()).toBe('inactive dead success')
})

/** Runs a line of a shell in the container; returns what it prints. */
async function inside(line: string): Promise<string> {
  return (await podman('exec', CONTAINER, 'sh', '-c', line)).trim()
}

async function state(): Promise<string> {
  const shown = await inside('systemctl show --property=ActiveState,SubState,Result waybridge')
  const values = Object.fromEntries(shown.split('\n').map((line) => line.split('=')))
  return [values.ActiveState, values.SubState, values.Result].join(' ')
}
