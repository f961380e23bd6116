import networkx as nx

roads = nx.Graph()
roads.add_weighted_edges_from([("a", "b", 4), ("a", "c", 2), ("c", "b", 1), ("b", "d", 5), ("c", "d", 8), ("d", "e", 3), ("x", "y", 1)])
flow = nx.DiGraph()
flow.add_edge("s", "a", capacity=3)
flow.add_edge("s", "b", capacity=2)
flow.add_edge("a", "t", capacity=2)
flow.add_edge("b", "t", capacity=3)
flow.add_edge("a", "b", capacity=5)
tasks = nx.DiGraph([("cut", "sew"), ("draw", "cut"), ("sew", "sell"), ("draw", "sell")])
club = nx.karate_club_graph()
{
    "path": nx.shortest_path(roads, "a", "e", weight="weight"), "length": nx.dijkstra_path_length(roads, "a", "e"),
    "parts": sorted(map(sorted, nx.connected_components(roads))),
    "tree": sorted(sorted(edge) for edge in nx.minimum_spanning_edges(roads, data=False)),
    "flow": nx.maximum_flow_value(flow, "s", "t"), "order": list(nx.lexicographical_topological_sort(tasks)),
    "between": round(nx.betweenness_centrality(club)[0], 9), "communities": [len(c) for c in nx.community.greedy_modularity_communities(club)],
    "triangles": sum(nx.triangles(club).values()) // 3, "cliques": max(map(len, nx.find_cliques(club))),
    "cycle": nx.is_directed_acyclic_graph(tasks), "graphml": len(list(nx.generate_graphml(roads))), "json": nx.node_link_data(tasks)["links"][0],
}
