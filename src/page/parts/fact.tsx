import type { ComponentChildren, JSX } from 'preact'

interface FactProps {
  readonly name: string
  readonly title?: string
  /** `ok`, `warning`, `error`, or `zero`: nothing to look at. */
  readonly tone?: string
  readonly isWide?: boolean
  readonly children: ComponentChildren
}

/** A line of a list of facts: name and value. */
export function Fact({ name, title, tone = '', isWide = false, children }: FactProps): JSX.Element {
  return (
    <div class={`fact ${tone && `tone-${tone}`} ${isWide ? 'is-wide' : ''}`} title={title}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
