# Which products are bought by the same customers: a graph with its parts, its
# centre and the way between two.
from collections import Counter
from itertools import combinations
import networkx as nx

baskets = {}
for sale in sales[:4000]:
    baskets.setdefault(sale["customer"], set()).add(sale["product"])
together = Counter(pair for basket in baskets.values() for pair in combinations(sorted(basket), 2))
graph = nx.Graph()
graph.add_weighted_edges_from((a, b, 1 / times) for (a, b), times in together.items() if times > 3)
centre = nx.degree_centrality(graph)
{
    "nodes": graph.number_of_nodes(), "edges": graph.number_of_edges(), "parts": sorted(map(len, nx.connected_components(graph)), reverse=True)[:3],
    "centre": sorted(centre, key=lambda node: (-centre[node], node))[:3], "way": nx.shortest_path_length(graph, "P001", "P100", weight="weight"),
    "triangles": sum(nx.triangles(graph).values()) // 3, "rank": sorted(((round(v, 9), k) for k, v in nx.core_number(graph).items()), reverse=True)[:2],
}
