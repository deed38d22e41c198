#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# include_line.sh HEADER OUTPUT: a source file that holds nothing but that include.
printf '#include "%s"\nextern int iw_alone;\n' "$1" >"$2"
