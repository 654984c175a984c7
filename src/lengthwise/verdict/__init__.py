"""Will it length-generalize, why, and from which length: words that tell functions apart, and what a split must carry."""
