import { describe, expect, it } from 'vitest'
import { documents } from './support/docs.ts'

describe('the generated regions of Markdown files', async () => {
  it.each(await documents())('are up to date in $path (`npm run docs` writes them)', ({ now, wanted }) => {
    expect(now).toBe(wanted)
  })
})
