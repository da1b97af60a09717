import type { JSX } from 'preact'
import { href } from '../router.ts'
import { words } from '../words/index.ts'
import { Empty } from './basics.tsx'

/** Shown where vans would be while none is known; leads to what has arrived. */
export function NoVans({ tone = '' }: { tone?: 'primary' | '' }): JSX.Element {
  return (
    <Empty icon="vans" title={words.now.noVans} text={words.now.noVansText}>
      <a class={`button ${tone}`} href={href('arrivals')}>
        {words.now.toArrivals}
      </a>
    </Empty>
  )
}
