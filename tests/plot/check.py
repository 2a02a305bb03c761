#!/usr/bin/env python3
"""check.py PTXRUN [--browser]: the page of `ptxrun run --plot` and `replay --plot` against counted.ptx, whose comments say what a GPU would count.

With --browser a real browser lays the page out, and what stands in its tables is compared; else the data in the page.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from html.parser import HTMLParser

HERE = os.path.dirname(os.path.abspath(__file__))
KERNEL = os.path.join(HERE, 'counted.ptx')
BROWSERS = ('chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable')


def expected():
    """line -> {issues, threads, sectors, passes, conflicts} of counted.ptx."""
    wanted = {}
    with open(KERNEL, encoding='utf-8') as file:
        for number, text in enumerate(file, 1):
            found = re.search(r'//# (\d+) (\d+)(.*)', text)
            if found:
                wanted[number] = {'issues': int(found[1]), 'threads': int(found[2])}
                wanted[number] |= {name: int(value) for name, value in re.findall(r'(\w+) (\d+)', found[3])}
                if 'passes' in wanted[number]:
                    wanted[number].setdefault('conflicts', 0)
    return wanted


def counted_in_data(page):
    """The same of the data in the page."""
    with open(page, encoding='utf-8') as file:
        text = file.read()
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1])
    assert data['launches'][0]['warps'] == 4, data['launches'][0]['warps']
    counted = {}
    for line in data['launches'][0]['lines']:
        got = {'issues': line['issues'], 'threads': line['threads']}
        if line['requests']:
            got['sectors'] = line['sectors'] / line['requests']
        if line['sharedRequests']:
            got |= {'passes': line['passes'] / line['sharedRequests'], 'conflicts': line['passes'] - line['freePasses']}
        counted[line['line']] = got
    return counted


class Tables(HTMLParser):
    """Rows of the tables, by line, and the blocks of the flame with the share of the width that they were given."""

    def __init__(self):
        super().__init__()
        self.kind, self.row, self.rows, self.flame = None, None, {}, []
        self.isCell = False

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag == 'table':
            self.kind = given.get('data-kind')
        elif tag == 'tr' and 'data-line' in given and self.kind == 'PTX':
            self.row = self.rows[int(given['data-line'])] = []
        elif tag == 'td' and self.row is not None:
            self.row.append('')
            self.isCell = True
        elif tag == 'div' and 'data-issues' in given:
            share = re.search(r'width: ([\d.]+)%', given.get('style', ''))
            self.flame.append((given['data-name'], int(given['data-issues']), float(share[1])))

    def handle_endtag(self, tag):
        if tag == 'tr':
            self.row = None
        self.isCell = self.isCell and tag != 'td'

    def handle_data(self, data):
        if self.isCell and self.row:
            self.row[-1] += data


def counted_in_browser(page):
    browser = next((name for name in BROWSERS if shutil.which(name)), None)
    if not browser:
        print('skipped: none of ' + ', '.join(BROWSERS) + ' is installed')
        sys.exit(77)
    with tempfile.TemporaryDirectory() as profile:
        shown = subprocess.run([browser, '--headless', '--no-sandbox', '--disable-gpu', f'--user-data-dir={profile}', '--dump-dom', 'file://' + page],
                               capture_output=True, text=True, timeout=120)
    assert shown.returncode == 0, shown.stderr
    assert 'data-is-ready="true"' in shown.stdout, 'the script of the page did not run to its end'
    tables = Tables()
    tables.feed(shown.stdout)
    total = tables.flame[0][1]
    for name, issues, share in tables.flame:
        assert abs(share - 100 * issues / total) < 0.01, (name, issues, share, total)
    counted = {}
    for line, (_, issues, lanes, requests, sectors, shared, passes, conflicts, _) in tables.rows.items():
        if not issues:
            continue
        got = {'issues': int(issues), 'threads': round(float(lanes) * int(issues))}
        if requests:
            got['sectors'] = float(sectors)
        if shared:
            got |= {'passes': float(passes), 'conflicts': int(conflicts)}
        counted[line] = got
    return counted


def check(page, isBrowser):
    wanted = expected()
    counted = counted_in_browser(page) if isBrowser else counted_in_data(page)
    assert len(wanted) > 15, wanted
    for line, counts in wanted.items():
        assert counted.get(line) == counts, f'{KERNEL}:{line}: {counts} expected, and {counted.get(line)} counted'


def main(ptxrun, isBrowser):
    with tempfile.TemporaryDirectory() as folder:
        page, recording = os.path.join(folder, 'page.html'), os.path.join(folder, 'run.rec')
        launch = [ptxrun, 'run', KERNEL, '--grid', '2', '--block', '64', '--arg', 'u32[1024]']
        subprocess.run(launch + ['--plot', page], check=True)
        check(page, isBrowser)
        if isBrowser:
            return
        subprocess.run(launch + ['--record', recording, '-q'], check=True)
        os.remove(page)
        subprocess.run([ptxrun, 'replay', recording, '--launch', '0', '--plot', page], check=True)
        check(page, False)


if __name__ == '__main__':
    main(sys.argv[1], '--browser' in sys.argv)
