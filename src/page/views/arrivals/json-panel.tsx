import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { MappingJson, UnreadJson } from '../../../admin/schemas/mappings.ts'
import { api } from '../../data/api.ts'
import { useAsked, useNow } from '../../data/hooks.ts'
import { Ago, FailureNote, Foreign, Panel, Raw } from '../../parts/basics.tsx'
import { ChangeButton } from '../../parts/change-button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { toast } from '../../parts/toast.tsx'
import { words } from '../../words/index.ts'
import { MappingDialog } from './mapping-dialog.tsx'

/** JSON that was not understood, by kind, each with a mapping that may fit; and the mappings in effect. */
export function JsonPanel(): JSX.Element {
  const unread = useAsked('unread JSON', api.unreadJson, RELOAD_MS)
  const mappings = useAsked('mappings', api.mappings, RELOAD_MS)
  const [mapping, setMapping] = useState<UnreadJson>()
  const close = (isSaved: boolean) => {
    setMapping(undefined)
    if (!isSaved) return
    unread.again()
    mappings.again()
  }
  const kinds = unread.answer?.results ?? []
  const known = mappings.answer?.results ?? []
  return (
    <>
      {kinds.length > 0 && (
        <Panel title={words.json.title} hint={words.json.hint}>
          <ul class="arrivals">
            {kinds.map((kind) => (
              <Kind key={kind.kind} kind={kind} map={() => setMapping(kind)} />
            ))}
          </ul>
        </Panel>
      )}
      {known.length > 0 && (
        <Panel title={words.json.saved} hint={words.json.savedHint}>
          <ul class="arrivals">
            {known.map((each) => (
              <Known key={each.name} mapping={each} again={() => close(true)} />
            ))}
          </ul>
        </Panel>
      )}
      {mapping && <MappingDialog kind={mapping} names={known.map(({ name }) => name)} close={close} />}
    </>
  )
}

function Kind({ kind, map }: { readonly kind: UnreadJson; readonly map: () => void }): JSX.Element {
  const now = useNow(5000)
  const { at, payloads, proposal, protocol, sample, transport } = kind
  return (
    <li class="arrival">
      <span class="arrival-icon">
        <Icon name="unknown" />
      </span>
      <div class="arrival-body">
        <p class="arrival-title">
          {protocol && <span class="tag">{words.arrivals.expects(protocol)}</span>}
          {words.json.payloads(payloads)}
        </p>
        <p class="finding-meta">
          <Ago at={at} now={now} />
          <span>{transport}</span>
          <span>{proposal ? words.json.looks : words.json.nothing}</span>
        </p>
        {proposal && <Paths mapping={proposal.mapping} />}
        {sample !== undefined && (
          <details class="arrival-bytes">
            <summary>{words.json.latest}</summary>
            <Raw text={sample} />
          </details>
        )}
      </div>
      <ChangeButton type="button" class="button primary" onClick={map}>
        {words.json.map}
      </ChangeButton>
    </li>
  )
}

/** Where a mapping has the values of a position. */
function Paths({ mapping }: { readonly mapping: MappingJson['mapping'] }): JSX.Element {
  const texts = Object.entries(mapping).map(([key, value]) => `${key}: ${pathText(value)}`)
  return (
    <p class="finding-meta mono">
      <Foreign text={texts.join(', ')} />
    </p>
  )
}

function pathText(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value)
  return Object.values(value).map(pathText).join(' ')
}

function Known({ mapping, again }: { readonly mapping: MappingJson; readonly again: () => void }): JSX.Element {
  const { by = '', name, source } = mapping
  const [error, setError] = useState<unknown>()
  const remove = async () => {
    try {
      await api.deleteMapping(name)
    } catch (failure) {
      return setError(failure)
    }
    toast(words.json.removed(name))
    again()
  }
  return (
    <li class="arrival">
      <span class="arrival-icon">
        <Icon name="ok" />
      </span>
      <div class="arrival-body">
        <p class="arrival-title">
          <span class="tag">map:{name}</span>
          <span class="muted">{source === 'saved' ? words.json.savedAt(by) : words.json.ofFile}</span>
        </p>
        <Paths mapping={mapping.mapping} />
        {error !== undefined && <FailureNote error={error} />}
      </div>
      {source === 'saved' && (
        <ChangeButton type="button" class="button" onClick={() => void remove()} aria-label={words.json.remove(name)}>
          <Icon name="close" size={14} />
        </ChangeButton>
      )}
    </li>
  )
}

const RELOAD_MS = 15_000
