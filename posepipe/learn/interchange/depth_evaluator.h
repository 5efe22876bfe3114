/* Reference evaluator of a depth forest, to the bit that of posepipe. Compile with -ffp-contract=off.
   Above stand the arrays of the trees; docs/reference/interchange.md describes them. */
#include <math.h>
#include <stdint.h>

/* A depth image of one person: millimetres row by row, 0 = no reading; mask 0 = not the person; focal lengths, pixels. */
typedef struct {
    const uint16_t *depth_mm;
    const uint8_t *mask;
    int32_t height, width;
    double fx, fy;
} posepipe_image;

/* What a probe reads at a pixel; beside the image and the person that is the background. */
static int32_t posepipe_read(const posepipe_image *image, int32_t row, int32_t col)
{
    int32_t depth, place = row * image->width + col;
    if (row < 0 || col < 0 || row >= image->height || col >= image->width || !image->mask[place])
        return POSEPIPE_BACKGROUND_MM;
    depth = image->depth_mm[place];
    return depth > 0 && depth < POSEPIPE_BACKGROUND_MM ? depth : POSEPIPE_BACKGROUND_MM;
}

/* Row or column of a probe; ``side`` is -1 for the columns of a mirrored walk. */
static int32_t posepipe_probe(int32_t pixel, float offset, int32_t depth_mm, double focal, int side, int32_t size)
{
#if POSEPIPE_CLAMPED
    double place = pixel + trunc(side * (double)offset * 1000.0 / depth_mm * focal / POSEPIPE_FOCAL_PX);
    return (int32_t)fmin(fmax(place, 0.0), size - 1);
#else
    float depth_m = (float)depth_mm * 0.001f;
    float scale = (float)side * ((float)focal / depth_m);
    float product = offset * scale;
    float place = (float)pixel + floorf(product + 0.5f);
    return place < 0.0f ? -1 : place > (float)size ? size : (int32_t)place;
#endif
}

/* Row of the leaf that a pixel reaches in a tree. */
static int32_t posepipe_leaf(const posepipe_image *image, int32_t row, int32_t col, int32_t root, int side)
{
    int32_t node = root, depth = posepipe_read(image, row, col), probe, read[2];
    while (posepipe_feature[node] >= 0) {
        for (probe = 0; probe < 2; probe++) {
            const float *offset = posepipe_offsets + 4 * posepipe_feature[node] + 2 * probe;
            read[probe] = posepipe_read(image, posepipe_probe(row, offset[0], depth, image->fy, 1, image->height),
                                        posepipe_probe(col, offset[1], depth, image->fx, side, image->width));
        }
        node = posepipe_child[node] + ((float)(read[0] - read[1]) > posepipe_threshold[node]);
    }
    return posepipe_child[node];
}

/* Label of a pixel of the person that has a reading, 0 = background, 1 and up = a part, the first one of a tie.
   ``sums`` receives POSEPIPE_CLASSES whole numbers: the probabilities, in units of 1 / (255 * POSEPIPE_WALKS). */
static int32_t posepipe_classify(const posepipe_image *image, int32_t row, int32_t col, int32_t *sums)
{
    int32_t walk, entry, leaf, c, best = 0;
    for (c = 0; c < POSEPIPE_CLASSES; c++)
        sums[c] = 0;
    for (walk = 0; walk < POSEPIPE_WALKS; walk++) {
        int mirrored = walk >= POSEPIPE_TREES; /* the second half of the walks of a symmetric forest */
        leaf = posepipe_leaf(image, row, col, posepipe_roots[walk % POSEPIPE_TREES], mirrored ? -1 : 1);
        for (entry = posepipe_leaf_start[leaf]; entry < posepipe_leaf_start[leaf + 1]; entry++) {
            c = posepipe_leaf_class[entry];
            sums[mirrored ? posepipe_mirrored_class[c] : c] += posepipe_leaf_value[entry];
        }
    }
    for (c = 1; c < POSEPIPE_CLASSES; c++)
        if (sums[c] > sums[best])
            best = c;
    return best;
}
