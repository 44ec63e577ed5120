package main

import "strings"

// diffCells bounds the work of a comparison: lines of one text times lines
// of the other.
const diffCells = 4 << 20

// diffLines returns the lines that differ between two texts, in their order:
// "-" before those of the first, "+" before those of the second. It returns as few
// lines as possible; for very long texts, it returns all lines between the first and
// the last difference. The result is empty if the texts are equal.
func diffLines(then, now string) []string {
	lines := []string{}
	if then == now {
		return lines
	}
	a, b := strings.Split(then, "\n"), strings.Split(now, "\n")
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	common := longestCommon(a, b)
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && common != nil && a[i] == b[j]:
			i, j = i+1, j+1
		case j >= len(b) || i < len(a) && (common == nil || common[i+1][j] >= common[i][j+1]):
			lines = append(lines, "-"+a[i])
			i++
		default:
			lines = append(lines, "+"+b[j])
			j++
		}
	}
	return lines
}

// longestCommon returns, for each pair of positions, how many lines the rests of both
// texts have in common, or nil if that is too much work.
func longestCommon(a, b []string) [][]int32 {
	if len(a)*len(b) > diffCells {
		return nil
	}
	rows := make([][]int32, len(a)+1)
	cells := make([]int32, (len(a)+1)*(len(b)+1))
	for i := range rows {
		rows[i], cells = cells[:len(b)+1], cells[len(b)+1:]
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				rows[i][j] = rows[i+1][j+1] + 1
			} else {
				rows[i][j] = max(rows[i+1][j], rows[i][j+1])
			}
		}
	}
	return rows
}
