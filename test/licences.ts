import { lockedPackages } from './support/licences.ts'

/* `npm run licences`: prints each package that the product needs to run, with its version and licence, from the lock file. */
for (const { name, version, licence } of lockedPackages().filter(({ isDev }) => !isDev))
  process.stdout.write(`${name} ${version} ${licence}\n`)
