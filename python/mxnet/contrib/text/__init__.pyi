# Generated from the modules by `./dev docs`; do not edit.

