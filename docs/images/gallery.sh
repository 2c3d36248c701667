#!/bin/sh
# Make the twelve pictures of docs/images/gallery.png: sh docs/images/gallery.sh
#
# Needs the program (`cargo build --release`) and ImageMagick. The cases are those of the recipes and of examples/cases; their data
# are made here. Each `draw` is the command of a picture.
set -eu
cd "$(dirname "$0")/../.."
root=$PWD
program=$root/target/release/burntrace
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# Write the case FILE of a recipe.
recipe() {
    awk -v file="$2" '$0 == "```toml file=" file { on = 1; next } /^```$/ { on = 0 } on' \
        "$root/docs/guide/recipes/$1.md" >"$2"
}

# Run a case in a folder of its own, with further arguments.
run() {
    "$program" run "$1" --quiet --out "$2" --set save.report='"never"' $3
}

# Draw PICTURE of a run with options, and keep it by its number.
draw() {
    number=$1 picture=$2
    shift 2
    "$program" render "$@" --size 800x560 --out drawn --quiet
    mv "drawn/pictures/$picture.png" "$number.png"
}

sh "$root/examples/data/ocean.sh" ocean.nc
sh "$root/examples/data/vessel.sh" vessel
sh "$root/examples/data/room.sh" room.vtk
recipe ocean-drift drift.toml
recipe vessel strain.toml
recipe plume room.toml
recipe flow-past-a-body body.toml
for case in drift strain room body; do
    run $case.toml $case ""
done
run "$root/examples/cases/obstacle.toml" obstacle '--set units.length="m" --set units.time="s"'
run "$root/examples/cases/abc.toml" abc ""
"$program" demo --out demo >demo.log
"$program" init >gyre.toml
run gyre.toml smoke '--set seeds={kind="list",points=[[0.5,0.5,0.0],[0.9,0.3,0.0],[1.4,0.7,0.0]],repeat={every=0.05,until=9.9}} --set save.every=10'
for mixing in 0.0 0.001 0.01; do
    run gyre.toml mixing_$mixing "--set walk.diffusivity=$mixing --set seeds.count=150 --set save.every=2"
done

draw 01 tracks drift --color status
draw 02 end_positions drift
draw 03 tracks drift --background speed --particles 40 --view xy --last '10 d'
draw 04 tracks strain --color 'strain' --log --particles 300
draw 05 tracks body --view 3d --particles 200
draw 06 tracks room --color T --particles 300
draw 07 tracks obstacle
draw 08 density obstacle
draw 09 tracks demo --background vorticity --particles 60 --view xy
draw 10 streaklines smoke --streaklines --colors plasma
draw 11 tracks abc --particles 200
"$program" render mixing_0.0 mixing_0.001 mixing_0.01 --particles 60 --columns 2 --size 800x560 --out . --quiet
mv panels.png 12.png

montage [01][0-9].png -tile 3x4 -geometry 800x560+8+8 sheet.png
convert sheet.png -resize 1800x -colors 255 "PNG8:$root/docs/images/gallery.png"
