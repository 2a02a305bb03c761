"""Writes every case file."""
import comparison
import conversion
import extended_precision
import floating_point
import half_precision
import integer
import logic_shift
import video

for section in (integer, extended_precision, floating_point, half_precision, comparison, logic_shift, conversion, video):
    section.main()
