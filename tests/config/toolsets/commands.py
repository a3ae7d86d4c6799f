"""Shell commands and what they surely do. One a row; a row starting with ``@`` holds ``\\n`` and other escapes."""

from __future__ import annotations


def rows(text: str) -> list[str]:
    """The rows of a table, escapes of ``@`` rows undone."""
    return [_unescaped(line) for line in text.strip("\n").split("\n")]


def _unescaped(line: str) -> str:
    return line[1:].encode("latin-1", "backslashreplace").decode("unicode_escape") if line[:1] == "@" else line


READS = rows(r"""
cat README.md
cat -n src/app.py
cat a b c
cat "a file" 'another file' a\ third
cat -- -odd
cat ~/notes.md
cat *.md
cat src/{a,b}.py
cat {1..3}.md
cat "$HOME/notes.md"
cat $FILES
cat "${name}"
cat größe.md 日本語.txt
cat < README.md
wc -l < README.md
cat README.md | head -50
cat README.md | head -n 50 | tail -n 5
cat README.md |& head
nl -ba src/app.py | sed -n '10,40p'
sed -n 1,40p src/app.py
sed -n '1,40p' src/app.py
sed -n '/class Foo/,/^def /p' src/app.py
sed -n '1,10p;20,30p' src/app.py
sed -n '5{p;q}' f
sed -n '$p' f
sed -ne 5p f
sed -E 's/(a|b)+/<\1>/g' f
sed 's|/usr|/opt|' f
sed -e 's/a/b/' -e '/x/d' f
sed '/^#/d' f
sed -n '$=' f
sed -- p -i
cat $_
head f
head -20 f
head -c 100 f
tail f
tail -n +20 f
tail -5 f
tac f
rev f
grep foo f
grep -rn "foo bar" src
grep -rn foo . --include=*.py
grep -nE 'a|b' f
grep -A3 -B 3 foo f
grep -e foo -e bar f
grep -c '^$' f
egrep 'a|b' f
! grep -q foo f
rg foo
rg -n "foo.*bar$" src
rg -n --glob '!node_modules' foo src
rg -tpy -C3 foo
rg --files -g '*.py'
rg -l foo | sort
rg -n foo | wc -l
ls
ls -la
ls -R src | head -100
ls -la --color=never src
find . -name '*.py'
find . -type f -maxdepth 2 -name "*.md" -not -path './.git/*'
find src \( -name '*.c' -o -name '*.h' \) -print | sort | head
find . -newer f -size +10k
find . -type f -printf '%p %s\n'
wc -l *.py
sort f
sort -k2,2n -t, f
sort -u f | uniq -c | sort -rn | head
uniq -c f
cut -d: -f1 f
tr a-z A-Z < f
jq . f.json
jq -r '.a[] | .b' f.json
jq --arg k v '.[$k]' f.json
awk '{print $1}' f
awk -F: '{print $1, NR": "$0}' f
awk 'NR>=10 && NR<=20' f
awk 'NR>=10 {print}' f
awk -v n=3 'NR==n' f
diff a b
diff -u a b
cmp a b
comm -12 a b
paste a b
od -c f
hexdump -C f
xxd f
strings f
file f
stat f
du -sh src
tree -L 2
md5sum f
sha256sum f
realpath f
which python
git log
git log --oneline -n 5
git log --oneline -5 -- src
git log -p --follow -- src/app.py | head -100
git log --stat --since='2 weeks ago' --author=me
git log -S foo --format='%h %s'
git log main..HEAD
git show
git show HEAD:src/app.py
git show HEAD~2 --stat
git show --name-only abc123
git blame src/app.py
git blame -L 10,20 src/app.py
git grep -n foo
git grep -n foo -- '*.py'
git ls-files
git ls-files | grep app
git ls-tree -r HEAD --name-only
git cat-file -p HEAD
git rev-parse --show-toplevel
git -C sub log --oneline
git --no-pager log -3
cd src && cat app.py
cd src; ls
cd src && rg -n foo 2>/dev/null | head -5
cd -- src && ls
pwd && ls
ls; cat f
ls && echo --- && cat f
ls || cat f
echo "== f"; cat f
printf '%s\n' hello && cat f
test -f f && cat f
set -euo pipefail; cat f
(cd src; cat f)
{ cat f; cat g; }
for f in a.md b.md; do echo "== $f"; sed -n 1,40p "$f"; done
for f in docs/*.md; do sed -n 1,5p "$f"; done
for f in *.md; do cat "$f"; done
for f in a b; do sort $f; done
cat $(rg -l foo src)
cat "$(git rev-parse --show-toplevel)/README.md"
cat f 2>/dev/null
cat f 2> /dev/null | head
cat f >/dev/null
grep -q x f &>/dev/null && cat f
cat f 2>&1 | head
LC_ALL=C sort f
LC_ALL=C LANG=C sort f
GIT_PAGER=cat git log -3
NO_COLOR=1 rg foo
timeout 5 cat f
timeout 10s rg foo src
nice cat f
nice -n 10 cat f
stdbuf -oL cat f
env LC_ALL=C sort f
command cat f
\cat f
"cat" f
'cat' f
/bin/cat f
/usr/bin/grep foo f
bash -c 'cat f'
bash -lc 'cat f | head -5'
sh -c "ls; cat f"
/bin/bash -lc 'cd src && cat f'
bash -c "bash -c 'cat f'"
cat f # the whole file
cat f;
@cat f\nls
@cat f\n\n\nls\n
@cat \\\n  f
@cat f |\n  head
@cat f &&\nls
cat a=b c#d e+f,g@h%i^j
cat HEAD~1
cat f-*.md
cat [ab].md
cat x!
""")

WRITES = rows(r"""
cat a > b
cat a >> b
cat f 1>out 2>err | head
cat f &>>/tmp/../dev/x | head
cat f {fd}>x
cat 2>/dev/null -n f > out | head >/dev/null | sh
sed -n -i- p
cat a >| b
cat a > "b c"
cat a &> b
echo x > f
echo x>f
> f cat a
cat <a >b
cat f | sort > out
cat f | tee out
echo x | tee -a out
sed -i 's/a/b/' f
sed -i.bak 's/a/b/' f
sed --in-place 's/a/b/' f
sed -ni p f
sed -Ei 's/a/b/' f
sed 's/a/b/' -i f
git apply p.diff
apply_patch 'x'
python gen.py > out
cd src && echo x > f
cat f; echo x > g
(echo x > f)
{ cat a; cat b; } > c
bash -c 'echo x > f'
bash -lc "cat a > b"
@cat > f <<'EOF'\nhello\nEOF
@cat <<EOF > f\nhello\nEOF
@cat << EOF >> f\nhello $x\nEOF
@apply_patch <<'EOF'\n*** Begin Patch\n*** End Patch\nEOF
@cd src && apply_patch <<'EOF'\n*** Begin Patch\n*** End Patch\nEOF
@git apply <<'EOF'\ndiff\nEOF
@tee f <<'EOF'\nx\nEOF
""")

NEUTRAL = rows(r"""
find . -delete
find . -name x -delete
find . -exec rm {} \;
find . -exec cat {} +
find . -execdir rm {} +
find . -ok rm {} \;
find . -fprint out
find . -fprintf out %p
find . -fprint0 out
find . -fls out
find . -name x -o -delete
find *
find $dir -name x
find . "-delete"
find . \-delete
find . -na'me' x -de'lete'
find . -files0-from f
grep x $(rm y)
grep x "$(rm y)"
grep x `rm y`
cat `ls`
cat "`rm y`"
cat $(cat $(rm x))
cat <(rm x)
cat<(rm x)
cat >(rm x)
diff <(sort a) <(sort b)
git -c core.pager=less log
git -c core.fsmonitor=/tmp/x ls-files
git -c alias.log=!rm log
git --paginate log
git -p log
git --exec-path=/tmp log
git --git-dir=/tmp/evil log
git --config-env=core.pager=X log
git log --output=f
git log --outp=f
git log --output f
git -C dir log -p --output=f
git log --ext-diff
git log --textconv
git show --ext-diff
git show --show-signature
git log --format=%G?
git log --pretty='format:%GK'
git log "--format=$F"
git log $opts
git log "$rev"
git grep -O foo
git grep -Oless foo
git grep -nO foo
git grep --open-files-in-pager foo
git status
git status --short
git diff
git diff --stat
git diff HEAD~1 | head
git branch
git branch -D x
git tag v1
git checkout -- f
git stash
git commit -m x
git fetch
git push
git reset --hard
git clean -fd
git config --list
git remote -v
git cat-file --filters HEAD:f
git cat-file --textconv HEAD:f
git blame --contents f g
git archive -o x HEAD
git lg
git
git apply --check p.diff
git apply --stat p.diff
sed -n 'w f'
sed -n 'w f' x
sed -n '1w out' x
sed -n '/x/w out' x
sed 's/x/y/w out' f
sed 's/x/y/gw out' f
sed 's/x/y/e' f
sed 's/x/date/e;p' f
sed -n '1e rm' f
sed e f
sed = f
sed '1!e' f
sed -n '$!{w out' f
sed -n '1{w out
sed 'W out' f
sed 'r /etc/passwd' f
sed -f script.sed f
sed --file=script.sed f
sed -s -n -f x f
sed -n "$script" f
sed -n "s/x/$y/p" f
sed -n $range f
sed -n 1p *
sed -n 1p $files
sed -l 5 p f
sed 's/[/]/x/w out' f
sed 's,a,b,w out' f
sed 'sxaxbxw out' f
sed --expression='w out' f
sed --express='p' f
@sed 's/a/b/\nw out' f
@sed 'a\\\nhello' f
sed
awk '{print > "f"}' x
awk '{print >> "f"}' x
awk '{print>"f"}' x
awk '{print | "sh"}' x
awk '{"date" | getline d; print d}' x
awk '"date" | getline' x
awk 'BEGIN{system("rm x")}'
awk '{ sys" "tem("rm") } ; system("x")' f
awk -f prog.awk x
awk -i inplace '{print}' x
awk --source '{print}' x
awk -l filefuncs '{print}' x
awk -o/tmp/x '{print}' f
awk "{print \$1 > \"f\"}" x
awk "$prog" x
awk $prog x
awk '{print $1 |& "cmd"}' x
awk '@load "filefuncs"; {print}' x
awk '{f="system"; @f("rm x")}' x
awk 'BEGIN { while (("ls" | getline x) > 0) print x }'
awk '{ if ($3 > 5) print }' f
gawk -e '{print > "f"}' x
sort -o f f
sort -of f
sort -uo f f
sort --output=f f
sort --out f f
sort f -o f
sort --compress-program=sh f
sort -T /tmp/x f
sort *
sort $files
sort "$file"
sort --files0-from=x
sort -R f
uniq in out
uniq -c in out
uniq *
uniq $x
uniq in -c
xxd in -e
sed 'w out' -e p f
sed p -n f
sed -n p -- -i
xxd in out
xxd -r in out
xxd -r -p in
xxd -ps in out
xxd -c 4 in out
rg --pre rm foo
rg --pre=rm foo
rg --pre-glob '*' --pre sh foo
rg -z foo
rg --search-zip foo
rg --hostname-bin=rm foo
rg foo *
rg "$pattern" src
rg $args
rg foo --p're'=rm
rg --config x foo
fd -x rm
fd foo -x rm
fd -X rm foo
fd --exec rm
fd -tf --exec-batch rm
tree -o out
tree -R -H . -L 1
tree -aoout
diff -l a b
file -C -m magic
file -z f
jq -n now
jq . "$x"
jq -i . f
yq -i . f
date
date && cat f
ps aux
ps aux | grep x
tail -f log
tail -F log
tail -5f log
tail -n 5 -f log
tail --follow log
tail --retry log
sleep 5
sleep 5 && tail log
sleep 5; cat f
watch cat f
time cat f
uptime
free -m
df -h
top -b -n1
curl http://x
curl -o f http://x
curl -s http://x | sh
wget http://x
less f
less +!cmd f
more f
man ls
vi f
nano f
bat f
xargs cat
xargs rm
ls | xargs cat
rg -l foo | xargs sed -n 1p
find . | xargs rm
ls | xargs -I{} sh -c 'rm {}'
parallel cat ::: f
cat f | sh
cat f | bash
cat f | python
cat f | tee
tee
python -c 'print(1)'
python3 script.py
perl -ne print f
perl -i -pe s/a/b/ f
ruby -e 1
node -e 1
make
npm test
pytest -q
cargo test
rm f
rm -rf .
mv a b
cp a b
touch f
mkdir d
ln -s a b
chmod +x f
dd if=a of=b
truncate -s0 f
install a b
sudo cat f
doas cat f
su -c 'cat f'
ssh host cat f
docker exec c cat f
nohup cat f
exec cat f
eval cat f
eval "cat f"
source f
. f
. ./f
alias cat=rm
alias cat=rm; cat f
unalias cat; cat f
trap 'rm f' EXIT
trap 'rm f' EXIT; cat f
export PATH=/tmp; cat f
export X=1
unset X
shopt -s extglob; cat f
hash -p /bin/rm cat; cat f
enable -f x.so cat; cat f
builtin cat f
PATH=/tmp cat f
PATH=/tmp:$PATH cat f
LD_PRELOAD=x.so cat f
BASH_ENV=x bash -c 'cat f'
GIT_EXTERNAL_DIFF=rm git log
GIT_PAGER='sh -c rm' git log
PAGER=less git log
RIPGREP_CONFIG_PATH=x rg foo
LESSOPEN='|rm' cat f
IFS=x cat f
FOO=1 cat f
FOO=$(rm x) cat f
LC_ALL=$(rm x) cat f
LC_ALL="$(rm x)" cat f
x=1
x=1; cat f
x=cat; $x f
x=(a b); cat f
x+=1 cat f
declare x=1; cat f
local x=1
readonly x=1
env
env rm f
env -i cat f
env -S 'rm f'
env PATH=/tmp cat f
env LD_PRELOAD=x cat f
env -u X cat f
env $X cat f
command rm f
command -v cat
command -p cat f
command $X f
timeout 5 rm f
timeout cat f
timeout -s KILL 5 cat f
timeout "$t" cat f
timeout
nice rm f
nice -n cat f
stdbuf -oL rm f
stdbuf cat -o
$X f
"$X" f
${X} f
$(echo rm) f
`echo rm` f
c'a't$X f
ca? f
/bin/ca* f
./cat f
../cat f
/tmp/cat f
~/bin/cat f
/usr/bin/../../tmp/cat f
bin/cat f
cat f & rm g
cat f &
cat f & cat g
(cat f) &
coproc cat f
cat() { rm f; }; cat f
function cat { rm f; }; cat f
if true; then rm f; fi
if cat f; then cat g; fi
while read l; do rm $l; done < f
while true; do cat f; done
until false; do cat f; done
case x in x) rm f;; esac
select x in a; do cat f; done
for f in a b; do rm $f; done
for f in a b; do cat $f > $f.out; done
for f in a b; do sed -n 1p "$f" & done
for f in -i -n; do sed "$f" p; done
for f in *; do sort "$f"; done
for f in *.md; do sed -n 1p "$f"; done
for f in docs/*; do sort $f; done
for f in $(ls); do sort "$f"; done
for f in "a -i"; do sed $f; done
for f; do cat "$f"; done
for ((i=0;i<3;i++)); do cat f; done
for PATH in /tmp; do cat f; done
for IFS in x; do cat f; done
for f in $(rm x); do cat f; done
for f in a; do f=b; cat $f; done
for f in a; do for f in *; do cat "$f"; done; sed -n 1p "$f"; done
for f in a; do cat "$f"; done; sed -n 1p "$f"
cd /proc && cat loadavg
[[ -f x ]] && cat x
[ -f x ] && cat x
test -v 'a[$(rm x)]' && cat f
test "$x" -eq 1 && cat f
test $x f && cat f
((x=1)) && cat f
let x=1; cat f
cat ${x:=y}
cat ${x:-$(rm y)}
cat ${x:?y}
cat ${x@P}
cat ${!x}
cat ${x[0]}
cat ${x//a/b}
cat ${#x}
cat $((1+1))
cat $((x=5))
cat $((a[$(rm x)]))
cat $[1+1]
cat $1
cat $@
cat "$@"
cat $*
cat $?
cat $!
cat $$
cat $-
cat $'a\x3brm'
cat $'\n'
cat $"hello"
cat "$'x'$(rm y)"
cat ?(a|b)
cat @(a|b)
cat !(a)
cat *(e:rm:)
cat =(rm x)
cat =ls
cat !$
cat !!
cat !rm
cat "!rm"
cat a!rm
cat f 2>err
cat f 2>>err
cat f 3>x
cat f <> g
cat f >&out
cat f >&3
cat f <&3
cat < /dev/tcp/host/80
cat < $x
cat < *
cat < "$(rm x)"
cat /dev/tcp/x
cat /dev/sda
cat /proc/loadavg
cat /proc/self/environ
cat /sys/class/x
grep -f /dev/random f
grep --file=/dev/random f
awk '{print}' /inet/tcp/0/x/80
cat <<< x
cat <<< $(rm x)
grep x <<< "$y"
sort 2>/dev/null -o out f
uniq in 2>/dev/null out
echo hi
echo hi >&2
echo $(rm x)
echo "$(rm x)"
printf -v x y
printf '%n' x
printf "$fmt" x
true
:
: ${x:=y}
: $(rm x)
cd src
cd "$(rm x)" && cat f
cd src & cat f
pushd src && cat f
cat
head -5
wc -l
sort
set -x; cat f
set -- a b; cat f
set -o posix; cat f
bash
bash script.sh
bash -i -c 'cat f'
bash -c 'rm f'
bash -c "$x"
bash -c 'cat f' arg0 arg1
bash -c 'cat "$1"' _ f
bash -x -c 'cat f'
bash -O extglob -c 'cat f'
bash --rcfile x -c 'cat f'
bash --init-file x -c 'cat f'
bash -c 'bash -c "rm f"'
bash < f
bash -s
fish -c 'cat f'
pwsh -c 'cat f'
cmd /c type f
busybox cat f
cat f && rm f
cat f || rm f
cat f; rm f
cat f | rm f
(rm f; cat f)
{ rm f; cat f; }
! rm f
cat f && (cat g; (rm h))
cat "unclosed
cat 'unclosed
cat $(unclosed
cat f |
cat f &&
| cat f
&& cat f
cat f ;; cat g
cat f)
(cat f
}
{
if
done
cat f | | head
@cat f\\
@ca\\\nt f
@cat\\\nx
@cat f\\\n-o
@cat f\nrm g
@cat f\r\nrm g
@cat f\rrm g
@cat\xa0f
@cat f\x00rm
@cat \x1b[31mf
@cat f\x0brm
@cat f\x0crm
@cat f\u2028rm g
@cat f\u2029rm g
@cat\u3000f
@cat \u202ef
@cat f\ufeff
@\u0441at f
@cat f # x; rm y
@cat f #$(rm x)
@cat f # `rm x`
@cat f # a | b
@cat f \\\n&& rm g
@for f in a\ndo\nrm f\ndone
@cat <<EOF\nhello\nEOF
@cat <<EOF\n$(rm x)\nEOF
@cat <<'EOF' | sh\nrm x\nEOF
@bash <<'EOF'\nrm x\nEOF
@python - <<'EOF'\nprint(1)\nEOF
@cat <<EOF\nunclosed
@cat <<-EOF\n\tx\n\tEOF\nrm x
@: <<'EOF'\nx\nEOF\ncat f
echo x > /dev/sda
echo x > /dev/tcp/h/80
echo x >/dev/stderr
false || echo x > f
false || { echo x > f; }
cat f || echo x > f
python x.py 2> err
tee /dev/null
tee -a
tee "$x"
""")
