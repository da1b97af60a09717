import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { documentedCommands } from './documented.ts'
import { run } from './engine.ts'
import { type Machine, READY, sendFix, startMachine } from './machine.ts'
import { CACHE, ROOT } from './place.mjs'
import { endAll, prepareSite } from './site.ts'

/* The package for Debian under a real systemd: installed by the commands of docker/README.md, upgraded, removed and purged. */

const FOLDER = join(CACHE, 'debian-package')
const [, install, status] = documentedCommands('## As a Debian package')
let machine: Machine

beforeAll(async () => {
  await prepareSite()
  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER, { recursive: true })
  const file = (await run(process.execPath, join(ROOT, 'docker/package/deb.ts'), FOLDER)).trim()
  await makeNext(file)
  machine = await startMachine('waybridge-debian-package', ['COPY *.deb /root/'], FOLDER)
  // The package contains its own Node.
  await machine.inside('rm /usr/local/bin/node')
})
afterAll(async () => {
  await endAll()
  rmSync(FOLDER, { recursive: true, force: true })
})

it('the documented commands install the package, and the service runs with a configuration that only it can read', async () => {
  await machine.inside(install)
  expect(await machine.state()).toBe('active running success')
  expect(await machine.inside(READY)).toContain('"ok":true')
  await expect.poll(() => machine.inside(status)).toContain('All well')
  const files = '/etc/waybridge /etc/waybridge/gateway.yaml /var/lib/waybridge/.data'
  const shown = await machine.inside(`stat --format '%a %U:%G' ${files}`)
  expect(shown.split('\n')).toEqual(['2750 root:waybridge', '640 root:waybridge', '700 waybridge:waybridge'])
  expect(await machine.inside('systemctl is-enabled waybridge')).toBe('enabled')
})

it('an upgrade of the package restarts the service, keeps the configuration, and loses no fix', async () => {
  expect(await machine.inside(sendFix())).toBe('200')
  await machine.inside("echo '# mine' >> /etc/waybridge/gateway.yaml")
  const before = await machine.inside('systemctl show --property=MainPID --value waybridge')
  await machine.inside('apt-get install ./next.deb')
  expect(await machine.inside("dpkg-query --show --showformat '${Version}' waybridge")).toMatch(/\+1$/)
  expect(await machine.state()).toBe('active running success')
  expect(await machine.inside('systemctl show --property=MainPID --value waybridge')).not.toBe(before)
  expect(await machine.inside('tail -n 1 /etc/waybridge/gateway.yaml')).toBe('# mine')
  const { custody } = JSON.parse(await machine.inside('waybridge status --json')) as { custody: { received: number } }
  expect(custody.received).toBe(1)
})

it('a disabled service stays disabled after an upgrade of the package', async () => {
  await machine.inside('systemctl disable --now waybridge')
  await machine.inside('apt-get install --reinstall ./next.deb')
  expect(await machine.state()).toBe('inactive dead success')
  await machine.inside('timeout 120 systemctl enable --now waybridge')
})

it('removing the package keeps configuration and data, and purging it keeps the data', async () => {
  await machine.inside('apt-get remove --yes waybridge')
  expect(await machine.state()).toMatch(/^inactive dead/)
  await machine.inside('test ! -e /usr/bin/waybridge && test -e /etc/waybridge/gateway.yaml')
  await machine.inside('apt-get purge --yes waybridge')
  await machine.inside('test ! -e /etc/waybridge && test -e /var/lib/waybridge/.data/installation')
  await machine.inside('! systemctl cat waybridge.service')
})

/** Makes a package of a later version from a package. */
async function makeNext(file: string): Promise<void> {
  const tree = join(FOLDER, 'tree')
  await run('dpkg-deb', '--raw-extract', file, tree)
  await run('sed', '-i', 's/^Version: .*/&+1/', join(tree, 'DEBIAN/control'))
  await run('dpkg-deb', '--root-owner-group', '-Znone', '--build', tree, join(FOLDER, 'next.deb'))
  rmSync(tree, { recursive: true, force: true })
}
