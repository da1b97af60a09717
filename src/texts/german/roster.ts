/* Remarks on lines of a roster, and sentences about assignments. */

/** Why a line is left out. */
const REJECTED = {
  empty: 'leer',
  'empty, but device {} has no courier_id of its own': 'leer, und Gerät {1} hat keine eigene courier_id',
  'missing, and device {} has no courier_id of its own': 'fehlt, und Gerät {1} hat keine eigene courier_id',
  'no device has the id or the name "{}"': 'kein Gerät hat die Kennung oder den Namen „{1}“',
  'no device has the id or the name "{}": did you mean {}?':
    'kein Gerät hat die Kennung oder den Namen „{1}“: ist {2} gemeint?',
  'not "{}"': 'nicht „{1}“',
  'expected an id of at most {}': 'erwartet wird eine Kennung, höchstens {1}',
  'expected an id: a whole number from 0 to {}': 'erwartet wird eine Kennung: eine ganze Zahl von 0 bis {1}',
  '"{}" is an id that a spreadsheet has destroyed: format the column as text and enter the id again':
    '„{1}“ ist eine Kennung, die eine Tabellenkalkulation zerstört hat: die Spalte als Text formatieren und die Kennung neu eintragen',
  'cannot be combined with from or until': 'geht nicht zusammen mit from oder until',
  'expected a day such as 2026-11-20': 'erwartet wird ein Tag wie 2026-11-20',
  'expected a time such as 2026-11-20T06:00:00Z, or local such as 2026-11-20 06:00':
    'erwartet wird eine Zeit wie 2026-11-20T06:00:00Z, oder Ortszeit wie 2026-11-20 06:00',
  'not after from': 'nicht nach from',
  'not within from and until of the request': 'liegt nicht in dem Zeitraum, den der Plan ersetzt',
  'this column is not read': 'diese Spalte wird nicht gelesen',
  'this column is missing': 'diese Spalte fehlt',
  'this column occurs twice': 'diese Spalte kommt zweimal vor',
  '{} cells, but the header has {}': '{1} Zellen, aber die Kopfzeile hat {2}',
  'this line has more than {} characters': 'diese Zeile hat mehr als {1} Zeichen',
  '"{}": some dates have the day first, some the month: write {}':
    '„{1}“: in manchen Daten steht der Tag vorn, in manchen der Monat: {2} schreiben',
  'is "{}" {} or {}? Write it like one of these': 'ist „{1}“ {2} oder {3}? So schreiben wie eines davon',
  'misplaced quotation mark': 'Anführungszeichen an falscher Stelle',
  'not UTF-8: save the file as "CSV UTF-8"': 'nicht UTF-8: die Datei als „CSV UTF-8“ speichern',
  'the body is not UTF-8: save the file as "CSV UTF-8"': 'die Datei ist nicht UTF-8: sie als „CSV UTF-8“ speichern',
  'line {}': 'Zeile {1}',
}

/** Mistakes in the entry of a device. */
const ENTRIES = {
  'device {} ({})': 'Gerät {1} ({2})',
  'the device at {}': 'das Gerät in {1}',
  'this name is the id of {}': 'dieser Name ist die Kennung von: {1}',
  '{} has this id as its name': '{1} hat diese Kennung als Namen',
  '{} has the same name, but another company': '{1} hat denselben Namen, aber eine andere Firma',
  '{} has the same name, but another courier': '{1} hat denselben Namen, aber einen anderen Fahrer',
  '{} has the same name: correct only for two trackers of one van':
    '{1} hat denselben Namen: richtig nur bei zwei Trackern eines Fahrzeugs',
  'company {} is not among the companies of gateway.yaml': 'Firma {1} ist nicht unter den Firmen von gateway.yaml',
  'expected a device id of 1 to {} bytes of printable UTF-8, without spaces around it':
    'erwartet wird eine Gerätekennung von 1 bis {1} Bytes druckbarem UTF-8, ohne Leerzeichen darum',
}

/** Remarks on a list of vans, its columns and its ids. */
const DEVICE_SHEETS = {
  'a spreadsheet has rounded this id': 'eine Tabellenkalkulation hat diese Kennung gerundet',
  'its last digit does not fit: a digit of this IMEI is wrong':
    'die letzte Ziffer passt nicht: in dieser IMEI ist eine Ziffer falsch',
  '14 digits: the check digit {} is added': '14 Ziffern: die Prüfziffer {1} ist ergänzt',
  'it has no id of a device': 'hier steht keine Kennung eines Geräts',
  'left aside: "{}" is read in its place': 'nicht gelesen: an ihrer Stelle wird „{1}“ gelesen',
  'its cells look like IMEIs': 'die Zellen sehen wie IMEIs aus',
  'not recognised: left aside': 'nicht erkannt: wird nicht gelesen',
  'it has {} digits: most ids of the list are IMEIs, which have 15':
    'das sind {1} Ziffern: die meisten Kennungen der Liste sind IMEIs, die 15 haben',
  'it is no IMEI, as most ids of the list are': 'das ist keine IMEI wie die meisten Kennungen der Liste',
  'SIM or telephone number: not kept': 'SIM- oder Telefonnummer: wird nicht gespeichert',
  'comment: not kept': 'Kommentar: wird nicht gespeichert',
  'the company is chosen once, for the whole list': 'die Firma wird einmal gewählt, für die ganze Liste',
  '14 digits: any of the 15 digits may be missing': '14 Ziffern: jede der 15 Ziffern kann fehlen',
  'line {} has this id too': 'Zeile {1} hat auch diese Kennung',
  'this id or name is taken: the line is left out':
    'diese Kennung oder dieser Name ist vergeben: die Zeile wird nicht übernommen',
  'device {} has the name "{}" too: correct only for two trackers of one van':
    'Gerät {1} hat auch den Namen „{2}“: richtig nur bei zwei Trackern eines Fahrzeugs',
  'the file is not UTF-8: it is read as Windows-1252; look at names with accents':
    'die Datei ist nicht UTF-8: sie wird als Windows-1252 gelesen; Namen mit Umlauten ansehen',
  'the list is empty': 'die Liste ist leer',
  'no column is recognised as the ids of the trackers: choose it by hand':
    'keine Spalte ist als die Kennungen der Tracker erkannt: sie von Hand wählen',
  'accept: line {} has no id of a device': 'accept: in Zeile {1} steht keine Kennung eines Geräts',
  'perhaps the model of the vehicle: left aside': 'vielleicht das Modell des Fahrzeugs: wird nicht gelesen',
  'not read from a list: write it into the entry of the van':
    'wird aus einer Liste nicht gelesen: in den Eintrag des Fahrzeugs schreiben',
  'it has names, and no ids: left aside': 'hier stehen Namen und keine Kennungen: wird nicht gelesen',
}

/** Why a spreadsheet cannot be read. */
const SPREADSHEETS = {
  'the spreadsheet has more than {} MiB': 'die Tabelle hat mehr als {1} MiB',
  'an .xls file, or one with a password: save it as .xlsx without one':
    'eine .xls-Datei oder eine mit Kennwort: sie als .xlsx ohne Kennwort speichern',
  'the spreadsheet has macros: save it as .xlsx, which has none':
    'die Tabelle hat Makros: sie als .xlsx speichern, das keine hat',
  'a ZIP archive, and not an .xlsx spreadsheet': 'ein ZIP-Archiv und keine .xlsx-Tabelle',
  'the spreadsheet would have {} MiB unpacked: at most {} are read; save the sheet alone, as CSV':
    'die Tabelle hätte entpackt {1} MiB: höchstens {2} werden gelesen; das Blatt allein als CSV speichern',
  'the spreadsheet consists of {} files, which is too many: save the sheet as CSV':
    'die Tabelle besteht aus {1} Dateien, das sind zu viele: das Blatt als CSV speichern',
  'the spreadsheet cannot be read': 'die Tabelle kann nicht gelesen werden',
  'the spreadsheet cannot be read: {}': 'die Tabelle kann nicht gelesen werden: {1}',
  'its end is missing': 'ihr Ende fehlt',
  'its directory is damaged': 'ihr Verzeichnis ist beschädigt',
  'a file in it has another size than its directory says': 'eine Datei darin ist anders groß, als ihr Verzeichnis sagt',
  'the spreadsheet takes too much memory to read, since a cell far out is not empty: save the sheet as CSV':
    'die Tabelle braucht zum Lesen zu viel Speicher, da eine Zelle weit außen nicht leer ist: das Blatt als CSV speichern',
  'the spreadsheet takes longer than {} s to read: save the sheet as CSV':
    'das Lesen der Tabelle dauert länger als {1} s: das Blatt als CSV speichern',
}

/** Warnings about settings that are in effect but may not be intended. */
const WARNINGS = {
  'overlaps {} for device {}: the later from wins': 'überschneidet {1} für Gerät {2}: das spätere from gilt',
  'overlaps {} for device {}: of the same from the later line wins':
    'überschneidet {1} für Gerät {2}: bei gleichem from gilt die spätere Zeile',
  'devices {} and {} are on route {} at the same time: both are pushed':
    'die Geräte {1} und {2} sind gleichzeitig auf Tour {3}: beide werden gesendet',
  'this line ended before today: only fixes of that time follow it':
    'diese Zeile endete vor heute: ihr folgen nur Positionen jener Zeit',
  'this line and {} more ended before today: only fixes of that time follow it':
    'diese Zeile und {1} weitere endeten vor heute: ihnen folgen nur Positionen jener Zeit',
  '{} occurs twice in {}, as its clocks are set back: the first is taken; write it with an offset where the second is meant':
    '{1} kommt in {2} zweimal vor, da die Uhr zurückgestellt wird: die erste gilt; ist die zweite gemeint, die Zeit mit ihrem Abstand zu UTC schreiben',
  '{} does not exist in {}, as its clocks are set forward: {} is taken':
    '{1} gibt es in {2} nicht, da die Uhr vorgestellt wird: {3} gilt',
  'this ends in the past: positions of that time that were delivered stay where they are':
    'das endet in der Vergangenheit: Positionen jener Zeit, die zugestellt sind, bleiben, wo sie sind',
  'this begins in the past: positions of that time that were delivered stay where they are':
    'das beginnt in der Vergangenheit: Positionen jener Zeit, die zugestellt sind, bleiben, wo sie sind',
  '{} goes on with route {} by its entry, {}: change that where it is not meant':
    '{1} behält die Tour {2} aus seinem Eintrag, {3}: ihn ändern, wenn das nicht gewollt ist',
  '{} on this machine is an older copy of what another machine has written to the roster: it is not in effect; copy the newer file here, or edit this one':
    '{1} auf dieser Maschine ist älter als das, was eine andere in den Tourenplan geschrieben hat: sie gilt nicht; die neuere Datei hierher kopieren oder diese ändern',
  'would take the route from {} now: it is not in effect': 'würde jetzt {1} die Tour nehmen: sie gilt nicht',
  'this file is gone: its devices stay in effect': 'diese Datei ist weg: ihre Geräte gelten weiter',
  'the only device that has one': 'dem einzigen Gerät, das eine hat,',
  '{} of the {} devices that have one': '{1} von den {2} Geräten, die eine haben,',
  'vans that have lost their route by files: {}': 'Fahrzeuge, die ihre Tour durch Dateien verloren haben: {1}',
  '{} leaves {}': '{1} verlässt {2}',
  '{} is on route {} too, besides {}: both are pushed': '{1} ist neben {3} auch auf Tour {2}: beide werden gesendet',
}

/** What an assignment does. */
const ASSIGNMENTS = {
  '{} gets {}; {} gets {} ({}).': '{1} bekommt {2}; {3} bekommt {4} ({5}).',
  '{} and {} have the same routes then, or none: there is nothing to swap':
    '{1} und {2} haben dann dieselben Touren oder keine: es gibt nichts zu tauschen',
  '{} gets {} ({}).': '{1} bekommt {2} ({3}).',
  '{} gets {}; {} loses it then ({}).': '{1} bekommt {2}; {3} verliert sie dann ({4}).',
  '{} gets {}; {} loses them then ({}).': '{1} bekommt {2}; {3} verliert sie dann ({4}).',
  '{} gets {}; {} lose it then ({}).': '{1} bekommt {2}; {3} verlieren sie dann ({4}).',
  '{} gets {}; {} lose them then ({}).': '{1} bekommt {2}; {3} verlieren sie dann ({4}).',
  '{} loses {} ({}).': '{1} verliert {2} ({3}).',
  'what does not hold now': 'was jetzt nicht gilt',
  'route {} (courier {})': 'Tour {1} (Fahrer {2})',
  '{} for all times': '{1} zu jeder Zeit',
  '{} from {} on': '{1} ab {2}',
  '{} from {} to {}': '{1} von {2} bis {3}',
  '{} more': '{1} weitere',
  'this takes the route from {}: nothing is changed; send it with force=true if it is meant':
    'das nimmt {1} die Tour: nichts ist geändert',
  'this would take the route from {}: nothing is changed; if the others are to keep theirs, narrow it with only_listed=true or another from and until; send it with force=true only if it is meant':
    'das nähme {1} die Tour: nichts ist geändert',
  'cannot be combined with like: the courier goes with the route':
    'geht nicht zusammen mit like: der Fahrer geht mit der Tour',
  'this is the same device': 'das ist dasselbe Gerät',
  'not after from_at': 'nicht nach dem Beginn',
  '{} has no route from then on: there is nothing to take over':
    '{1} hat ab dann keine Tour: es gibt nichts zu übernehmen',
  '{} has no line from then on that could end': '{1} hat ab dann keine Zeile, die enden könnte',
  '{} has no line from then on that could end; its entry ({}) gives it route {} for all times: change that':
    '{1} hat ab dann keine Zeile, die enden könnte; sein Eintrag ({2}) gibt ihm zu jeder Zeit die Tour {3}: ihn ändern',
  'no delivered fixes are kept: see keep in gateway.yaml':
    'zugestellte Positionen werden nicht aufbewahrt: siehe keep in gateway.yaml',
  'no kept position of these times has to be delivered once more':
    'keine aufbewahrte Position dieser Zeiten ist noch einmal zuzustellen',
  'the API has no deletion: these positions stay with the route that has them as well':
    'die API kann nichts löschen: diese Positionen bleiben auch bei der Tour, die sie hat',
  'this put was taken back before': 'dieser Plan wurde schon zurückgenommen',
  'company {} has a later put, {} by {}: take that back first':
    'Firma {1} hat einen späteren Plan, {2} von {3}: zuerst ihn zurücknehmen',
}

export const ROSTER = { ...REJECTED, ...ENTRIES, ...DEVICE_SHEETS, ...SPREADSHEETS, ...WARNINGS, ...ASSIGNMENTS }
