import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Where the page is in the package that `npm pack` makes: beside the code. */
const packaged = fileURLToPath(new URL('../../../page', import.meta.url))

/** The built page: `index.html`, `assets/<stamp>/…`, and `places.json`. In a clone it is below node_modules. */
export const PAGE_DIR = existsSync(packaged)
  ? packaged
  : fileURLToPath(new URL('../../../node_modules/.cache/waybridge/page', import.meta.url))
