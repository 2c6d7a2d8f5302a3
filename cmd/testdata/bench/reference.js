// What the program is measured against: the same work as a short script does it that
// keeps its state in two JSON arrays. It makes no address canonical, checks no
// record and syncs nothing, so it does less than the program.
//
//   node reference.js enqueue POSTED QUEUE URLS WEBHOOK OUT
//   node reference.js move POSTED DONE OUT
'use strict';
const fs = require('fs');

const read = (path) => JSON.parse(fs.readFileSync(path, 'utf8'));

// write writes an array with one record on each line.
const write = (path, records) =>
  fs.writeFileSync(path, '[\n' + records.map((r) => JSON.stringify(r)).join(',\n') + '\n]\n');

// enqueue queues the URLs that are neither posted nor queued.
function enqueue(postedPath, queuePath, urlsPath, webhook, out) {
  const queue = read(queuePath);
  const keys = new Set();
  const addresses = new Set(); // of records that know no webhook
  for (const r of [...read(postedPath), ...queue]) {
    if (r.webhook) keys.add(r.webhook + '|' + r.url);
    else addresses.add(r.url);
  }
  const urls = fs.readFileSync(urlsPath, 'utf8').split('\n').filter((line) => line !== '');
  const due = new Date().toISOString();
  let queued = 0;
  for (const url of urls) {
    const key = webhook + '|' + url;
    if (keys.has(key) || addresses.has(url)) continue;
    keys.add(key);
    queue.push({ webhook, url, destination: 'manga-x', status: 'queued', due_at: due });
    queued++;
  }
  write(out, queue);
  console.log(`matched=${urls.length} queued=${queued} already=${urls.length - queued}`);
}

// move adds the records that are done to those that are posted.
function move(postedPath, donePath, out) {
  const posted = read(postedPath);
  for (const r of read(donePath)) posted.push(r);
  write(out, posted);
  console.log(`posted=${posted.length}`);
}

const [what, ...args] = process.argv.slice(2);
({ enqueue, move })[what](...args);
