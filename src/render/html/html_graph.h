/* The dependency graph as a picture: a column for each partition, and below it, row by row, an arrow for the edges from
 * one to another. Names are written out, in as many lines as they take. */
#ifndef RENDER_HTML_HTML_GRAPH_H
#define RENDER_HTML_HTML_GRAPH_H

#include "render/html/html.h"

void html_graph(Html *html);

#endif
