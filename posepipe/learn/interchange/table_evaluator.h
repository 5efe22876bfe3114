/* Reference evaluator of trees of tables. Above stand their arrays; docs/reference/interchange.md describes them.
   A row has POSEPIPE_COLUMNS numbers: a category or an interval is its place in the list of its column, counted from 0;
   NaN = missing. A category that is not in the list is NaN, too, or with unseen="majority" and a column_kind above 0
   -1, which takes the branch of most rows. */
#include <math.h>
#include <stdint.h>

enum { POSEPIPE_NUMERIC, POSEPIPE_MULTIWAY, POSEPIPE_ONE_VS_REST };

/* Branch of a row at a node, -1 where the cell is missing, -2 for the one of most rows. */
static int32_t posepipe_branch(int32_t node, const double *row)
{
    int32_t feature = posepipe_feature[node], kind = POSEPIPE_NUMERIC, c;
    double value = 0;
    if (POSEPIPE_COMBINATIONS == 0 || feature < POSEPIPE_COLUMNS) { /* without any, compilers leave out their loop */
        value = row[feature];
        kind = posepipe_column_kind[feature];
    } else {
        const double *factor = posepipe_combinations + (feature - POSEPIPE_COLUMNS) * POSEPIPE_COLUMNS;
        for (c = 0; c < POSEPIPE_COLUMNS; c++)
            if (factor[c] != 0)
                value += factor[c] * row[c];
    }
    if (isnan(value))
        return -1;
    if (kind == POSEPIPE_NUMERIC)
        return !(value <= posepipe_threshold[node]);
    if (value < 0)
        return -2;
    if (kind == POSEPIPE_MULTIWAY)
        return value < posepipe_n_children[node] ? (int32_t)value : -1;
    return value != posepipe_threshold[node];
}

/* Add the prediction below a node, times a share of the row. Sums run in the order of posepipe's, the heaviest branch
   first and the others from the last one on, and shares are rounded as there: ties of classes are the same. */
static void posepipe_add(int32_t node, double share, const double *row, double *out)
{
    int32_t first, branch, k, heaviest, entry;
    double total;
    while (posepipe_feature[node] >= 0) {
        first = posepipe_child[node];
        branch = posepipe_branch(node, row);
        if (branch >= 0) {
            node = first + branch;
            continue;
        }
        total = 0;
        heaviest = 0;
        for (k = 0; k < posepipe_n_children[node]; k++) {
            total += posepipe_weight[first + k];
            if (posepipe_weight[first + k] > posepipe_weight[first + heaviest])
                heaviest = k;
        }
        if (!POSEPIPE_FRACTIONAL || branch == -2) {
            node = first + heaviest;
            continue;
        }
        posepipe_add(first + heaviest, share * (posepipe_weight[first + heaviest] / total), row, out);
        for (k = posepipe_n_children[node] - 1; k >= 0; k--)
            if (k != heaviest && posepipe_weight[first + k] > 0)
                posepipe_add(first + k, share * posepipe_weight[first + k] / total, row, out);
        return;
    }
    first = posepipe_child[node];
    for (entry = posepipe_leaf_start[first]; entry < posepipe_leaf_start[first + 1]; entry++)
        out[posepipe_leaf_class[entry]] += share * posepipe_leaf_value[entry];
}

/* Prediction of a row: ``out`` receives POSEPIPE_CLASSES probabilities; the most probable class is returned, the first
   one of a tie. Of numbers there is one class, and ``out`` receives the number. */
static int32_t posepipe_predict(const double *row, double *out)
{
    int32_t tree, c, best = 0;
    for (c = 0; c < POSEPIPE_CLASSES; c++)
        out[c] = 0;
    for (tree = 0; tree < POSEPIPE_TREES; tree++)
        posepipe_add(posepipe_roots[tree], 1.0, row, out);
    for (c = 0; c < POSEPIPE_CLASSES; c++) {
        out[c] = out[c] / POSEPIPE_TREES + POSEPIPE_MEAN;
        if (out[c] > out[best])
            best = c;
    }
    return best;
}
