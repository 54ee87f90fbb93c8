// Everything works without this script; it keeps pages new and shows local times.

const main = document.querySelector('main')

/** Times are written in UTC; the tooltip has the reader's own. */
function localTimes(root) {
  for (const time of root.querySelectorAll('time[datetime]')) {
    time.title = new Date(time.dateTime).toLocaleString(undefined, { timeZoneName: 'short' })
  }
}

/** Nothing is replaced under the hands of somebody who fills in a form, reads with the keyboard or marks a text. */
function isBusy() {
  const { activeElement } = document
  const isInside = activeElement !== main && main.contains(activeElement)
  const fields = [...main.querySelectorAll('input, textarea')]
  const isEdited = fields.some(
    (field) => field.value !== field.defaultValue || field.checked !== field.defaultChecked,
  )
  return document.hidden || isInside || isEdited || String(getSelection()) !== ''
}

async function refresh() {
  const response = await fetch(location.href, { headers: { accept: 'text/html' } })
  if (!response.ok || response.redirected) return
  const page = new DOMParser().parseFromString(await response.text(), 'text/html')
  const fresh = page.querySelector('main')
  if (fresh === null || isBusy() || fresh.innerHTML === main.innerHTML) return
  main.replaceChildren(...fresh.childNodes)
  localTimes(main)
}

function follow(block) {
  const events = new EventSource(block.dataset.events)
  events.addEventListener('progress', ({ data }) => {
    block.innerHTML = JSON.parse(data)
    localTimes(block)
  })
  events.addEventListener('end', () => {
    events.close()
    location.reload()
  })
}

localTimes(document)
const seconds = Number(main?.dataset.refresh)
if (seconds > 0) {
  setInterval(() => {
    if (!isBusy()) refresh().catch(() => undefined)
  }, seconds * 1000)
}
const live = document.querySelector('[data-events]')
if (live !== null) follow(live)
