import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { documentedCommands } from './documented.ts'
import { PACKAGE } from './images.ts'
import { type Machine, READY, sendFix, startMachine } from './machine.ts'
import { COPY } from './place.mjs'
import { endAll, prepareSite } from './site.ts'

/* The unit under a real systemd, installed by the commands of docker/README.md. */

const commands = documentedCommands('## With systemd')
const [reload, enable, status, journal] = commands.slice(-4)
const [, , check] = documentedCommands('## Installed with npm')
let machine: Machine

beforeAll(async () => {
  await prepareSite()
  const files = commands.slice(0, -4).map((command) => `RUN ${command}`)
  const lines = [`COPY --from=${PACKAGE} /src/waybridge-*.tgz /root/`, ...files]
  machine = await startMachine('waybridge-systemd', lines, COPY)
})
afterAll(endAll)

it('the package of the image has every file that the package of a clone has', async () => {
  const listed = JSON.parse(readFileSync(join(COPY, 'package.json'), 'utf8')) as { files: string[] }
  await machine.inside(`cd "$(npm root --global)/waybridge" && ls -d ${listed.files.join(' ')}`)
})

it('the unit starts by the documented commands, answers, and writes JSON lines to the journal', async () => {
  expect(await machine.inside(check)).toContain('/etc/waybridge: no mistakes')
  await machine.inside(reload)
  await machine.inside(`timeout 120 ${enable}`)
  expect(await machine.state()).toBe('active running success')
  expect(await machine.inside(READY)).toContain('"ok":true')
  // The commands run in root's folder.
  await expect.poll(() => machine.inside(status)).toContain('All well')
  const lines = (await machine.inside(journal.replace('journalctl', 'journalctl --output=cat'))).split('\n')
  const logged = lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as object)
  expect(logged.length).toBeGreaterThan(0)
})

it('only root and the service can read the configuration, and the service changes nothing in it', async () => {
  const files = '/etc/waybridge /etc/waybridge/gateway.yaml /var/lib/waybridge/.data'
  const shown = await machine.inside(`stat --format '%a %U:%G' ${files}`)
  expect(shown.split('\n')).toEqual(['2750 root:waybridge', '640 root:waybridge', '700 waybridge:waybridge'])
})

it('the unit acknowledges a fix', async () => expect(await machine.inside(sendFix())).toBe('200'))

it('a reload of the unit says whether the files have mistakes, and the service continues', async () => {
  await machine.inside('timeout 60 systemctl reload waybridge')
  await machine.inside("printf 'nobody: {}\n' > /etc/waybridge/devices.yaml")
  await machine.inside('! timeout 60 systemctl reload waybridge')
  await machine.inside('printf "" > /etc/waybridge/devices.yaml && timeout 60 systemctl reload waybridge')
  expect(await machine.state()).toBe('active running success')
})

it('a secret that only root can read reaches the service by LoadCredential', async () => {
  const token = 'a-token-of-the-service-manager'
  const credential = '/run/credentials/waybridge.service/token'
  await machine.inside(`install --mode 600 /dev/null /root/token && echo ${token} > /root/token`)
  const setting = `tokens: ["\${file:${credential}}"]`
  await machine.inside(`sed -i 's,^  #tokens:.*,  ${setting},' /etc/waybridge/gateway.yaml`)
  await machine.inside('mkdir -p /etc/systemd/system/waybridge.service.d')
  const dropIn = '/etc/systemd/system/waybridge.service.d/token.conf'
  await machine.inside(`printf '[Service]\nLoadCredential=token:/root/token\n' > ${dropIn} && systemctl daemon-reload`)
  await machine.inside('timeout 120 systemctl restart waybridge')
  const ask = `curl --silent --output /dev/null --write-out '%{http_code}' http://127.0.0.1:8080/admin/status`
  expect(await machine.inside(`${ask} --header 'authorization: Bearer ${token}'`)).toBe('200')
})

it('a restart starts the unit again, and a stop ends it in order', async () => {
  const before = await machine.inside('systemctl show --property=MainPID --value waybridge')
  await machine.inside('timeout 120 systemctl restart waybridge')
  expect(await machine.state()).toBe('active running success')
  expect(await machine.inside('systemctl show --property=MainPID --value waybridge')).not.toBe(before)
  expect(await machine.inside(READY)).toContain('"ok":true')
  await machine.inside('timeout 60 systemctl stop waybridge')
  expect(await machine.state()).toBe('inactive dead success')
})

it('the unit takes over the data folder of a previous unit with DynamicUser=', async () => {
  const folder = '/var/lib/waybridge'
  await machine.inside(`install --directory --mode 700 /var/lib/private && mv ${folder} /var/lib/private/`)
  await machine.inside(`chown -R 61184:61184 /var/lib/private/waybridge && ln -s private/waybridge ${folder}`)
  await machine.inside('timeout 120 systemctl start waybridge')
  const shown = await machine.inside(`stat --format '%F %U' ${folder} ${folder}/.data/installation`)
  expect(shown.split('\n')).toEqual(['directory waybridge', 'regular file waybridge'])
  expect(await machine.inside(READY)).toContain('"ok":true')
})
