#!/bin/bash
# Succeeds if both programs print the same.
exec diff <("$1") <("$2")
