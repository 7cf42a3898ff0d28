/* The dependency graph as a picture: partitions side by side, what is handed on above them, what is given back below.
 */
#ifndef RENDER_HTML_GRAPH_H
#define RENDER_HTML_GRAPH_H

#include "render/html.h"

void html_graph(Html *html);

#endif
